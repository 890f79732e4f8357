/* sim: run a model: at random, from a schedule, or step by step by hand. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/sim.h"
#include "report/check_json.h"
#include "report/doc.h"
#include "report/run_json.h"
#include "report/table.h"
#include "verdict/schedule_text.h"

#define DEFAULT_STEPS 100u
#define ROWS_SHOWN 100u   /* of a trace, without --full */
#define SHOWN_VALUES 64u  /* array elements and variables in a line */
#define REPLAY_SHOWN 400u /* bytes of a schedule that a line may have */

/* ---- what has happened -------------------------------------------------- */

static void shared_variable(const struct sim *s, uint32_t v, struct buf *out)
{
	const struct ir_var *var = &s->ir->vars[v];
	const int32_t *x = run_now(&s->run) + var->slot;
	buf_safe(out, var->name, strlen(var->name));
	buf_str(out, var->is_array ? " = {" : " = ");
	for (uint32_t i = 0; i < var->len && i < SHOWN_VALUES; i++) {
		buf_str(out, i ? ", " : "");
		text_value(s->ir, v, x[i], out);
	}
	if (var->len > SHOWN_VALUES)
		buf_printf(out, ", %s", glyphs_for(s->utf8)->dots);
	if (var->is_array)
		buf_char(out, '}');
}

void sim_shared_state(const struct sim *s, struct buf *out)
{
	for (uint32_t v = 0; v < s->ir->nvars && v < SHOWN_VALUES; v++) {
		buf_str(out, v ? ", " : "");
		shared_variable(s, v, out);
	}
	if (s->ir->nvars > SHOWN_VALUES)
		buf_printf(out, ", %s", glyphs_for(s->utf8)->dots);
	if (!s->ir->nvars)
		buf_str(out, "(no shared variables)");
}

void sim_trace(struct sim *s, struct buf *out)
{
	struct table_options o = {
		.width = s->cli->columns, .utf8 = s->utf8, .color = s->cli->color_out,
		.list = s->trace == TRACE_LIST, .max_rows = s->full ? 0 : ROWS_SHOWN,
		.full = "--full",
	};
	if (s->trace != TRACE_NONE)
		table_render(&s->run, &o, out);
}

void sim_fault(struct sim *s, struct buf *out)
{
	const struct run *r = &s->run;
	const struct run_step *last = &r->steps[r->nsteps - 1];
	struct ir_effect eff = run_fault(r);
	struct arena a;
	struct diags d;
	struct buf b;
	arena_init(&a, 0);
	diags_init(&d, &a);
	buf_init(&b);
	text_who(s->ir, last->thread, &b);
	buf_str(&b, ": ");
	ir_print_fault(s->ir, &eff, &b);
	diag_error(&d, ir_fault_name(last->fault), s->ir->src, s->ir->spans[last->fault_ins], "%s",
	           buf_cstr(&b));
	d.errors = 0; /* it is a result, not a list that wants a count */
	diags_render(&d, out, s->cli->color_out);
	buf_free(&b);
	arena_free(&a);
}

enum sim_end sim_end_of(struct sim *s, enum sim_end otherwise)
{
	bool finished = true;
	if (run_faulted(&s->run))
		return END_FAULT;
	for (uint32_t t = 0; t < s->ir->nthreads; t++)
		if (run_enabled(&s->run, t))
			return otherwise;
	for (uint32_t t = 0; t < s->ir->nthreads; t++)
		finished &= s->ir->nodes[ir_node_of(s->ir, run_now(&s->run), t)].kind == IRN_END;
	return finished ? END_FINISHED : END_DEADLOCK;
}

void sim_waiting(struct sim *s, struct buf *out)
{
	uint32_t shown = 0, more = 0;
	for (uint32_t t = 0; t < s->ir->nthreads; t++) {
		if (s->ir->nodes[ir_node_of(s->ir, run_now(&s->run), t)].kind == IRN_END)
			continue;
		if (shown >= 24) {
			more++;
			continue;
		}
		shown++;
		buf_str(out, "  ");
		text_who(s->ir, t, out);
		buf_char(out, ' ');
		text_wait(&s->run, t, out);
		buf_char(out, '\n');
	}
	if (more)
		buf_printf(out, "  and %u more threads\n", more);
}

/* ---- random runs -------------------------------------------------------- */

/* One run of at most `steps` further steps. */
static enum sim_end walk(struct sim *s)
{
	bool left = false;
	for (uint64_t i = 0; i < s->steps; i++) {
		enum run_status st = run_random(&s->run, &s->rng);
		if (st == RUN_FAULT || st == RUN_BLOCKED)
			return sim_end_of(s, END_STEPS);
		if (st != RUN_OK)
			return END_MEMORY;
		left |= s->run.steps[s->run.nsteps - 1].exited != IR_NONE;
		if (s->until == UNTIL_QUIESCENT && left && ir_quiescent(s->ir, run_now(&s->run)))
			return sim_end_of(s, END_QUIESCENT);
	}
	return sim_end_of(s, END_STEPS);
}

/* Runs until one faults, each with the next seed. */
static enum sim_end hunt(struct sim *s)
{
	enum sim_end end = END_STEPS;
	uint64_t first = s->seed;
	for (uint64_t k = 0; k < s->runs; k++) {
		run_rewind(&s->run, 0);
		s->seed = first + k;
		rng_seed(&s->rng, s->seed);
		end = walk(s);
		if (end == END_FAULT || end == END_MEMORY)
			return end;
	}
	return end;
}

/* ---- the end ------------------------------------------------------------ */

static const char *const end_names[] = {
	"steps", "schedule", "quiescent", "session", "finished", "deadlock", "fault", "memory",
};

static void say_end(struct sim *s, enum sim_end end, struct buf *out)
{
	uint32_t n = s->run.nsteps;
	const char *plural = n == 1 ? "" : "s";
	switch (end) {
	case END_FINISHED:
		buf_printf(out, "%s finished after %u step%s\n",
		           s->ir->nthreads == 1 ? "the thread" : "all threads", n, plural);
		break;
	case END_DEADLOCK:
		buf_printf(out, "deadlock after %u step%s: no thread can move\n", n, plural);
		sim_waiting(s, out);
		break;
	case END_FAULT:
		buf_printf(out, "fault at step %u\n", n);
		sim_fault(s, out);
		break;
	case END_QUIESCENT:
		buf_printf(out, "no thread is inside a block after %u step%s\n", n, plural);
		break;
	case END_STEPS:
		buf_printf(out, "stopped after %u step%s; --steps=N takes more\n", n, plural);
		break;
	case END_MEMORY:
		buf_printf(out, "stopped after %u step%s: out of memory\n", n, plural);
		break;
	case END_SCHEDULE:
	case END_SESSION:
		buf_printf(out, "%u step%s taken; the threads can go on\n", n, plural);
		break;
	}
}

/* A word as the shell takes it. */
static void shell_word(struct buf *out, const char *word)
{
	if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                                "0123456789_./=:,@%+-")]) {
		buf_str(out, word);
		return;
	}
	buf_char(out, '\'');
	while (*word) {
		size_t n = strcspn(word, "'");
		buf_safe(out, word, n);
		word += n;
		for (; *word == '\''; word++)
			buf_str(out, "'\\''");
	}
	buf_char(out, '\'');
}

static void say_replay(struct sim *s, struct buf *out)
{
	struct buf schedule;
	buf_init(&schedule);
	schedule_text(&s->run, &schedule);
	buf_str(out, "replay: intact sim ");
	shell_word(out, s->path);
	for (int i = 0; i < s->model.threads.n; i++) {
		buf_str(out, " --threads ");
		shell_word(out, s->model.threads.items[i]);
	}
	if (s->model.sml)
		buf_str(out, " --sml");
	if (s->random && schedule.len > REPLAY_SHOWN)
		buf_printf(out, " --seed %llu --steps %u\n", (unsigned long long)s->seed, s->run.nsteps);
	else
		buf_printf(out, " --schedule %s\n", buf_cstr(&schedule));
	buf_free(&schedule);
}

static void report_text(struct sim *s, enum sim_end end, struct buf *out)
{
	if (!s->interactive) {
		sim_trace(s, out);
		if (s->trace != TRACE_NONE && s->run.nsteps)
			buf_char(out, '\n');
	}
	if (s->until == UNTIL_FAULT && end != END_FAULT)
		buf_printf(out, "no fault in %llu runs of at most %llu steps; the last one:\n",
		           (unsigned long long)s->runs, (unsigned long long)s->steps);
	if (!s->interactive || end != END_FAULT)
		say_end(s, end, out);
	buf_str(out, end == END_FAULT ? "state before that step: " : "final state: ");
	sim_shared_state(s, out);
	buf_char(out, '\n');
	if (s->used_seed)
		buf_printf(out, "seed: %llu\n", (unsigned long long)s->seed);
	if (s->run.nsteps)
		say_replay(s, out);
	if (isatty(1) && !s->interactive && !s->schedule) {
		buf_str(out, "by hand: intact sim -i ");
		shell_word(out, s->path);
		buf_char(out, '\n');
	}
}

static int exit_code(const struct sim *s, enum sim_end end)
{
	if (end == END_MEMORY)
		return EXIT_UNKNOWN;
	if (end != END_FAULT)
		return EXIT_HOLDS;
	return run_fault(&s->run).fault == IRF_LIMIT ? EXIT_UNKNOWN : EXIT_VIOLATED;
}

static void report_json(struct sim *s, enum sim_end end, struct buf *out)
{
	static const char *const word[] = { "holds", "violated", "unknown", "unknown" };
	struct json_out j;
	json_out_init(&j, out, false);
	doc_begin(&j, "sim", 2);
	json_text(&j, "verdict", word[exit_code(s, end)]);
	json_line(&j, 2);
	check_json_model(s->ir, s->path, false, &j);
	json_line(&j, 2);
	if (s->used_seed)
		json_uint(&j, "seed", s->seed);
	json_line(&j, 2);
	json_text(&j, "end", end_names[end]);
	run_json(&s->run, &j);
	json_line(&j, 0);
	doc_end(&j);
}

static int report(struct sim *s, enum sim_end end)
{
	struct cli *cli = s->cli;
	int rc = exit_code(s, end);
	if (!outputs_take_stdout(&s->outputs))
		report_text(s, end, &cli->out);
	if (outputs_wanted(&s->outputs)) {
		struct buf doc;
		buf_init(&doc);
		report_json(s, end, &doc);
		rc = outputs_write(cli, s->cmd, &s->outputs, &doc, rc);
		buf_free(&doc);
	}
	if (s->save) {
		struct buf why;
		buf_init(&why);
		bool ok = sched_save(&s->run, s->save, s->path, &why);
		if (!ok) {
			buf_str(&cli->err, "intact sim: cannot write '");
			buf_safe(&cli->err, s->save, strlen(s->save));
			buf_printf(&cli->err, "': %s\n", buf_cstr(&why));
		}
		buf_free(&why);
		if (!ok)
			return EXIT_USAGE;
	}
	return rc;
}

/* ---- the command -------------------------------------------------------- */

static bool take_schedule(struct sim *s)
{
	struct sched sc;
	sched_init(&sc);
	bool ok = sched_read(&sc, s->ir, s->schedule) && sched_run(&sc, &s->run);
	if (!ok)
		diags_render(&sc.diags, &s->cli->err, s->cli->color_err);
	sched_free(&sc);
	return ok;
}

static uint64_t fresh_seed(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	uint64_t x = (uint64_t)t.tv_sec * 1000000007u + (uint64_t)t.tv_nsec;
	return rng_mix(&x) % 1000000;
}

static int simulate(struct sim *s)
{
	enum sim_end end = END_SCHEDULE;
	bool walks = !s->interactive && (!s->schedule || s->steps != UINT64_MAX);
	if (!run_init(&s->run, s->ir)) {
		buf_str(&s->cli->err, "intact sim: out of memory\n");
		return EXIT_UNKNOWN;
	}
	if (s->schedule && !take_schedule(s))
		return EXIT_USAGE;
	if (s->seed == UINT64_MAX)
		s->seed = outputs_wanted(&s->outputs) ? 1 : fresh_seed();
	if (s->steps == UINT64_MAX)
		s->steps = s->until == UNTIL_FAULT ? 1000 : DEFAULT_STEPS;
	s->random = !s->schedule && !s->interactive;
	rng_seed(&s->rng, s->seed);
	if (s->interactive) {
		sim_shell(s);
		end = END_SESSION;
	} else if (walks) {
		s->used_seed = true;
		end = s->until == UNTIL_FAULT && !s->schedule ? hunt(s) : walk(s);
	}
	if (end != END_MEMORY && end != END_QUIESCENT)
		end = sim_end_of(s, end);
	return report(s, end);
}

static const char *contradiction(const struct sim *s)
{
	if (outputs_wrong(&s->outputs))
		return outputs_wrong(&s->outputs);
	if (s->interactive && outputs_wanted(&s->outputs))
		return "--interactive and reports cannot be combined";
	if (s->interactive && s->until != UNTIL_END)
		return "--interactive and --until cannot be combined";
	if (s->schedule && s->until == UNTIL_FAULT)
		return "--schedule and --until=fault cannot be combined: a schedule is one run";
	if (s->interactive && !strcmp(s->path, "-"))
		return "a model from standard input cannot be stepped interactively";
	return NULL;
}

static int run(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	int rc;
	const char **args = calloc((size_t)argc * 2 + 2, sizeof *args), *wrong;
	static const char *const traces[] = { "table", "list", "none", NULL };
	static const char *const untils[] = { "end", "quiescent", "fault", NULL };
	static const char *const charsets[] = { "auto", "ascii", "utf8", NULL };
	struct sim s = { .cli = cli, .cmd = cmd, .seed = UINT64_MAX, .steps = UINT64_MAX,
		         .runs = 1000, .model = { .threads = { args + argc + 1, 0 },
		                                  .keep_dead = true } };
	const struct opt table[] = {
		{ OPT_FLAG, "interactive", 'i', NULL, &s.interactive, "choose each step interactively; steps can be undone", 0, 0, NULL },
		{ OPT_STR, "schedule", 's', "LIST", &s.schedule, "follow this schedule: 1,1,2 or @FILE or FILE", 0, 0, NULL },
		{ OPT_UINT, "seed", 0, "N", &s.seed, "seed of the random run; the same seed gives the same run", 0, UINT64_MAX - 1, NULL },
		{ OPT_UINT, "steps", 'n', "N", &s.steps, "maximum number of random steps (100)", 0, RUN_MAX_STEPS, NULL },
		{ OPT_CHOICE, "until", 0, "WHEN", &s.until, "stop at the end, when no thread is inside a block,\n"
		  "                                or at a fault, trying seed after seed", 0, 0, untils },
		{ OPT_UINT, "runs", 0, "N", &s.runs, "number of runs that --until=fault tries (1000)", 1, 100000000, NULL },
		{ OPT_LIST, "threads", 0, "NAME=N", &s.model.threads, "run N threads of this name", 0, 0, NULL },
		{ OPT_FLAG, "sml", 0, NULL, &s.model.sml, "read the file as SML regardless of its name", 0, 0, NULL },
		{ OPT_GROUP, NULL, 0, NULL, NULL, "output", 0, 0, NULL },
		{ OPT_CHOICE, "trace", 0, "HOW", &s.trace, "output format of the steps", 0, 0, traces },
		{ OPT_FLAG, "full", 0, NULL, &s.full, "show every step of a long run", 0, 0, NULL },
		{ OPT_CHOICE, "charset", 0, "SET", &s.charset, "characters of the table (auto: utf8 on a UTF-8 terminal)", 0, 0, charsets },
		{ OPT_STR, "save", 0, "FILE", &s.save, "write the schedule to a file", 0, 0, NULL },
		{ OPT_FLAG, "quiet", 'q', NULL, &s.model.quiet, "suppress warnings about the model", 0, 0, NULL },
		OUTPUT_OPTIONS(&s.outputs),
		{ 0 },
	};
	struct opts o = { table, args, 0, false };
	struct buf err;
	struct lang l;
	if (!args)
		return EXIT_INTERNAL;
	buf_init(&err);
	lang_init(&l);
	bool ok = opts_parse(&o, argc, argv, &err);
	s.path = args[0];
	s.utf8 = s.charset == 2 || (s.charset == 0 && cli->utf8_out);
	if (!ok)
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	else if (o.help)
		rc = cli_help(cli, cmd, table);
	else if (!o.nargs && outputs_swallowed(&s.outputs, &err))
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	else if (o.nargs != 1)
		rc = cli_usage(cli, cmd, o.nargs ? "expected one MODEL argument" : "missing MODEL argument");
	else if ((wrong = contradiction(&s)))
		rc = cli_usage(cli, cmd, "%s", wrong);
	else
		rc = model_load(cli, cmd, &l, s.path, &s.model);
	if (ok && rc == EXIT_HOLDS && !o.help) {
		s.ir = l.ir;
		rc = simulate(&s);
		run_free(&s.run);
	}
	lang_free(&l);
	buf_free(&err);
	free(args);
	return rc;
}

const struct cmd cmd_sim = {
	"sim", "run a model step by step: at random, by a schedule, by hand", "sim [OPTIONS] MODEL",
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
	NULL, run,
};
