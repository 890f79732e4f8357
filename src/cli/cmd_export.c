/* export: `intact export --promela MODEL` and `--net=FORMAT MODEL`, a model for
 * another checker. */
#include <stdlib.h>

#include "base/invariant.h"
#include "check/commit_points.h"
#include "cli/model.h"
#include "judge/net.h"
#include "report/promela.h"

struct export
{
	struct model_options model;
	bool promela;
	int semantics;
	int commit; /* 0: inferred, 1: at the exit */
	struct model_net net;
};

/* --threads name=any has no meaning for a model that is written out. */
static const char *any_count(const struct ir *p)
{
	for (uint32_t t = 0; t < p->ntemplates; t++)
		if (p->templates[t].any_count)
			return p->templates[t].name;
	return NULL;
}

/* Writes Promela; with commit points that are looked for where the source does not say them. */
static int promela(struct cli *cli, const struct export *x, struct lang *l)
{
	assert(x->promela && l->ir);
	struct commit_points points = { 0 };
	struct diags d;
	struct buf text;
	int rc = EXIT_HOLDS;
	if (x->semantics == PROMELA_INSTRUMENTED && !x->commit && commit_points_unmarked(l->ir)) {
		if (!commit_points_find(l->ir, &points))
			rc = EXIT_INTERNAL;
		else if (points.none)
			buf_printf(&cli->err,
			           "intact export: no commit points were found (%s); "
			           "blocks without commit; commit at their exit\n",
			           points.none);
	}
	struct promela_options o = { (enum promela_semantics)x->semantics, points.edge, points.at_entry };
	buf_init(&text);
	diags_init(&d, &l->arena);
	if (rc == EXIT_HOLDS && promela_export(l->ir, &o, &d, &text) && !text.failed)
		buf_add(&cli->out, buf_cstr(&text), text.len);
	else
		rc = d.errors ? EXIT_USAGE : EXIT_INTERNAL;
	diags_render(&d, &cli->err, cli->color_err);
	if (rc == EXIT_INTERNAL)
		buf_str(&cli->err, "intact export: out of memory\n");
	commit_points_free(&points);
	buf_free(&text);
	return rc;
}

static int export_model(struct cli *cli, const struct cmd *cmd, const struct export *x, const char *path)
{
	assert(path);
	struct lang l;
	struct buf wrong;
	lang_init(&l);
	buf_init(&wrong);
	int rc = model_load(cli, cmd, &l, path, &x->model);
	if (rc == EXIT_HOLDS && any_count(l.ir))
		rc = cli_usage(cli, cmd, "--threads: %s needs a number here, not 'any'", any_count(l.ir));
	else if (rc == EXIT_HOLDS && x->net.format)
		rc = model_net(&x->net, &l, &cli->out, &wrong, &cli->err, cli->color_err);
	else if (rc == EXIT_HOLDS)
		rc = promela(cli, x, &l);
	if (wrong.len)
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&wrong));
	buf_free(&wrong);
	lang_free(&l);
	return rc;
}

static int run(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	const char **args = calloc((size_t)argc * 4 + 4, sizeof *args);
	struct export x = { .promela = false };
	static const char *const semantics[] = { "standard", "instrumented", NULL };
	static const char *const commit[] = { "inferred", "exit", NULL };
	/* clang-format off */
	const struct opt table[] = {
		{ OPT_FLAG, "promela", 0, NULL, &x.promela, "write Promela, for SPIN", 0, 0, NULL },
		{ OPT_CHOICE, "semantics", 0, "WHICH", &x.semantics, "the program itself, or with the shadow store", 0, 0, semantics },
		{ OPT_CHOICE, "commit", 0, "WHERE", &x.commit, "where blocks without marks commit", 0, 0, commit },
		{ OPT_CHOICE, "net", 0, "FORMAT", &x.net.format, "write the Petri net of its control and small data", 0, 0, net_forms },
		{ OPT_STR, "block", 0, "NAME", &x.net.block, "--net: with a second copy of this block, for its chosen occurrence", 0, 0, NULL },
		{ OPT_LIST, "track", 0, "NAME", &x.net.track, "--net: track the values of this variable", 0, 0, NULL },
		{ OPT_LIST, "abstract", 0, "NAME", &x.net.abstract, "--net: do not track the values of this variable", 0, 0, NULL },
		{ OPT_LIST, "threads", 0, "NAME=N", &x.model.threads, "run N threads of this name", 0, 0, NULL },
		{ OPT_FLAG, "keep-dead", 0, NULL, &x.model.keep_dead, "do not reset variables that are not read again", 0, 0, NULL },
		{ OPT_FLAG, "sml", 0, NULL, &x.model.sml, "read the file as SML regardless of its name", 0, 0, NULL },
		{ OPT_FLAG, "quiet", 'q', NULL, &x.model.quiet, "no warnings", 0, 0, NULL },
		{ 0 },
	};
	/* clang-format on */
	struct opts o = { table, args, 0, false };
	struct buf err;
	int rc;
	if (!args)
		return EXIT_INTERNAL;
	x.model.threads.items = args + argc + 1;
	x.net.track.items = args + 2 * argc + 2;
	x.net.abstract.items = args + 3 * argc + 3;
	buf_init(&err);
	if (!opts_parse(&o, argc, argv, &err))
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	else if (o.help)
		rc = cli_help(cli, cmd, table);
	else if (!x.promela == !x.net.format)
		rc = cli_usage(cli, cmd,
		               x.promela ? "--promela and --net cannot be combined"
		                         : "missing format: --promela or --net=pnml|pep|dot");
	else if (x.promela && (x.net.block || x.net.track.n || x.net.abstract.n))
		rc = cli_usage(cli, cmd, "--block, --track and --abstract require --net");
	else if (o.nargs != 1)
		rc = cli_usage(cli, cmd, o.nargs ? "expected one MODEL argument" : "missing MODEL argument");
	else
		rc = export_model(cli, cmd, &x, args[0]);
	buf_free(&err);
	free(args);
	return rc;
}

const struct cmd cmd_export = {
	"export",
	"write a model for another checker",
	"export --promela|--net=FORMAT [OPTIONS] MODEL",
	"--net writes the Petri net on which causal atomicity is defined, as PNML, PEP's ll_net or dot. It\n"
	"has a place for each lock and each value of a small variable, and a transition for each step; other\n"
	"data is not tracked.\n\n"
	"  intact export --net=pep MODEL | intact net -\n\n"
	"--promela writes a model (.atm or .sml) as a Promela model to standard output. With the standard\n"
	"semantics SPIN finds the faults, failed assertions and deadlocks of the program. With the\n"
	"instrumented semantics an assertion also fails when a block does not match its commit point: its\n"
	"commit; marks or, without marks, the point that 'intact check' finds (with at most three threads\n"
	"of a kind; --commit=exit: its exit).\n\n"
	"  intact export --promela MODEL > m.pml; spin -a m.pml; gcc -O2 -DSAFETY -o pan pan.c; ./pan\n\n"
	"Exit code: 0 written, 2 usage, input, or something that is not exported, 3 a limit was\n"
	"reached, 4 internal error.",
	"*.atm *.sml",
	run,
};
