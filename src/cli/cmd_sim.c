/* cmd_sim: `intact sim`: options, and what becomes of the run (sim/sim.h). */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/invariant.h"
#include "cli/model.h"
#include "cli/outputs.h"
#include "cli/sim_shell.h"

struct sim_command {
	struct sim s;
	struct model_options model;
	const char *save;
	int charset;
	struct outputs outputs;
};

static int save(struct cli *cli, const struct sim_command *c)
{
	assert(c->save && c->s.run.ir);
	struct why why;
	bool ok = sched_save(&c->s.run, c->save, c->s.path, &why);
	if (!ok) {
		buf_str(&cli->err, "intact sim: cannot write '");
		buf_safe(&cli->err, c->save, strlen(c->save));
		buf_printf(&cli->err, "': %s\n", why.text);
	}
	return ok ? EXIT_HOLDS : EXIT_USAGE;
}

static int simulate(struct cli *cli, const struct cmd *cmd, struct sim_command *c)
{
	assert(c->s.ir);
	struct buf doc;
	int rc = sim_begin(&c->s, outputs_wanted(&c->outputs), &cli->err, cli->color_err);
	if (rc != EXIT_HOLDS)
		return rc;
	if (c->s.interactive)
		sim_shell(&c->s, cli);
	enum sim_end end = sim_run(&c->s);
	rc = sim_code(&c->s, end);
	if (!outputs_take_stdout(&c->outputs))
		sim_text(&c->s, end, isatty(STDOUT_FILENO), &cli->out);
	if (outputs_wanted(&c->outputs)) {
		buf_init(&doc);
		sim_json(&c->s, end, &doc);
		rc = outputs_write(cli, cmd, &c->outputs, &doc, rc);
		buf_free(&doc);
	}
	return c->save && save(cli, c) != EXIT_HOLDS ? EXIT_USAGE : rc;
}

static const char *contradiction(const struct sim_command *c)
{
	if (outputs_wrong(&c->outputs))
		return outputs_wrong(&c->outputs);
	if (c->s.interactive && outputs_wanted(&c->outputs))
		return "--interactive and reports cannot be combined";
	return sim_wrong(&c->s);
}

static int run(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	int rc;
	const char **args = calloc((size_t)argc * 2 + 2, sizeof *args), *wrong;
	static const char *const traces[] = { "table", "list", "none", NULL };
	static const char *const untils[] = { "end", "quiescent", "fault", NULL };
	static const char *const charsets[] = { "auto", "ascii", "utf8", NULL };
	struct sim_command c = {
		.s = { .seed = UINT64_MAX, .steps = UINT64_MAX, .runs = 1000, .color = cli->color_out, .width = cli->columns },
		.model = { .threads = { args + argc + 1, 0 }, .keep_dead = true }
	};
	/* clang-format off */
	const struct opt table[] = {
		{ OPT_FLAG, "interactive", 'i', NULL, &c.s.interactive, "choose each step interactively; steps can be undone", 0, 0, NULL },
		{ OPT_STR, "schedule", 's', "LIST", &c.s.schedule, "follow this schedule: 1,1,2 or @FILE or FILE", 0, 0, NULL },
		{ OPT_UINT, "seed", 0, "N", &c.s.seed, "seed of the random run; the same seed gives the same run", 0, INT64_MAX, NULL },
		{ OPT_UINT, "steps", 'n', "N", &c.s.steps, "maximum number of random steps (100)", 0, RUN_MAX_STEPS, NULL },
		{ OPT_CHOICE, "until", 0, "WHEN", &c.s.until, "stop at the end, when no thread is inside a block,\n"
		  "                                or at a fault, trying seed after seed", 0, 0, untils },
		{ OPT_UINT, "runs", 0, "N", &c.s.runs, "number of runs that --until=fault tries (1000)", 1, 100000000, NULL },
		{ OPT_LIST, "threads", 0, "NAME=N", &c.model.threads, "run N threads of this name", 0, 0, NULL },
		{ OPT_FLAG, "sml", 0, NULL, &c.model.sml, "read the file as SML regardless of its name", 0, 0, NULL },
		{ OPT_GROUP, NULL, 0, NULL, NULL, "output", 0, 0, NULL },
		{ OPT_CHOICE, "trace", 0, "HOW", &c.s.trace, "output format of the steps", 0, 0, traces },
		{ OPT_FLAG, "full", 0, NULL, &c.s.full, "show every step of a long run", 0, 0, NULL },
		{ OPT_CHOICE, "charset", 0, "SET", &c.charset, "characters of the table (auto: utf8 on a UTF-8 terminal)", 0, 0, charsets },
		{ OPT_STR, "save", 0, "FILE", &c.save, "write the schedule to a file", 0, 0, NULL },
		{ OPT_FLAG, "quiet", 'q', NULL, &c.model.quiet, "suppress warnings about the model", 0, 0, NULL },
		OUTPUT_OPTIONS(&c.outputs),
		{ 0 },
	};
	/* clang-format on */
	struct opts o = { table, args, 0, false };
	struct buf err;
	struct lang l;
	if (!args)
		return EXIT_INTERNAL;
	buf_init(&err);
	lang_init(&l);
	bool ok = opts_parse(&o, argc, argv, &err);
	c.s.path = args[0];
	c.s.utf8 = c.charset == 2 || (c.charset == 0 && cli->utf8_out);
	if (!ok)
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	else if (o.help)
		rc = cli_help(cli, cmd, table);
	else if (!o.nargs && outputs_swallowed(&c.outputs, &err))
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	else if (o.nargs != 1)
		rc = cli_usage(cli, cmd, o.nargs ? "expected one MODEL argument" : "missing MODEL argument");
	else if ((wrong = contradiction(&c)))
		rc = cli_usage(cli, cmd, "%s", wrong);
	else
		rc = model_load(cli, cmd, &l, c.s.path, &c.model);
	if (ok && rc == EXIT_HOLDS && !o.help) {
		c.s.ir = l.ir;
		rc = simulate(cli, cmd, &c);
		run_free(&c.s.run);
	}
	lang_free(&l);
	buf_free(&err);
	free(args);
	return rc;
}

const struct cmd cmd_sim = {
	"sim",
	"run a model step by step: at random, by a schedule, by hand",
	"sim [OPTIONS] MODEL",
	"Runs a model and prints the interleaving as a table: one column per thread,\n"
	"steps from top to bottom, changes on the right. Without options the run is\n"
	"random; its seed and its schedule are printed, so that it can be repeated.\n\n"
	"A schedule is a list of thread numbers as in the table's heading: 1,1,2 is two\n"
	"steps of thread 1, then one of thread 2. Names work too (worker.2), 2*5 is five\n"
	"steps, and 2.1 is a step in which thread 2 takes the first alternative of a\n"
	"choice.\n\n"
	"  intact sim examples/lost-update.atm\n"
	"  intact sim -i examples/lost-update.atm\n"
	"  intact sim examples/lost-update.atm --schedule 1,1,1,1,2,2,2,2\n\n"
	"Exit code: 0 the run completed, 1 a fault or a failed assertion, 2 wrong usage or model.",
	"*.atm *.sml",
	run,
};
