/* export: `intact export --promela MODEL` and `--net=FORMAT MODEL`, a model for
 * another checker. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/export_net.h"
#include "cli/model.h"
#include "explore/commit.h"
#include "report/promela.h"

/* Commit points are looked for with this many threads of a template and this
 * many states: the other checker judges whether they fit the rest. */
#define INFER_THREADS 3u
#define INFER_STATES  2000000u
#define INFER_SECONDS 60.0

struct export {
	struct model_options model;
	bool promela;
	int semantics;
	int commit; /* 0: inferred, 1: at the exit */
	struct export_net net;
};

struct points {
	uint8_t *edge;
	bool *at_entry;
};

/* --threads name=any has no meaning for a model that is written out. */
static const char *any_count(const struct ir *p)
{
	for (uint32_t t = 0; t < p->ntemplates; t++)
		if (p->templates[t].any_count)
			return p->templates[t].name;
	return NULL;
}

static void take_points(const struct ir *p, const struct commit_result *c, struct points *out)
{
	for (uint32_t b = 0; b < p->nblocks; b++) {
		const struct commit_point *at = &c->points[b];
		out->at_entry[b] = at->kind == COMMIT_ENTRY;
		for (uint32_t i = 0; at->kind == COMMIT_STEP && i < at->n; i++) {
			const struct ir_node *n = &p->nodes[at->at[i].node];
			for (uint32_t k = 0; k < n->nsucc; k++)
				if (at->at[i].succ == IR_NONE || p->succs[n->succ + k] == at->at[i].succ)
					out->edge[n->succ + k] = 1;
		}
	}
}

/* Is there a block whose commit point the source does not say? */
static bool unmarked(const struct ir *p)
{
	for (uint32_t b = 0; b < p->nblocks; b++)
		if (!p->blocks[b].has_commit)
			return true;
	return false;
}

static void infer_points(struct cli *cli, const struct ir *p, struct points *out)
{
	struct search_options o = { .symmetry = true, .merge_local = true, .drop_pure = true,
		                    .max_states = INFER_STATES, .deadline = clock_seconds() + INFER_SECONDS };
	struct commit_result c;
	commit_run(p, PROD_BLOCK_ALL, &o, &c);
	if (!c.violation && !c.no_labelling && c.search.verdict == SEARCH_HOLDS)
		take_points(p, &c, out);
	else
		buf_printf(&cli->err, "intact export: no commit points were found (%s); "
		                      "blocks without commit; commit at their exit\n",
		           c.violation ? "a block is not atomic" :
		           c.no_labelling ? "none fit" : "the model is too large");
	commit_result_free(&c);
}

/* The same model with few threads: nodes are numbered by template, so its
 * commit points are the same. A pipe cannot be read twice: there, the model
 * itself. */
static int find_points(struct cli *cli, const struct cmd *cmd, const struct export *x, const char *path,
                       const struct ir *p, struct points *out)
{
	struct model_options few = x->model;
	char (*text)[80] = calloc(p->ntemplates + 1, sizeof *text);
	const char **items = calloc(p->ntemplates + 1, sizeof *items);
	struct lang l;
	int rc = EXIT_INTERNAL;
	out->edge = calloc(p->nsuccs + 1, 1);
	out->at_entry = calloc(p->nblocks + 1, sizeof *out->at_entry);
	lang_init(&l);
	if (text && items && out->edge && out->at_entry && strcmp(path, "-") != 0) {
		few.quiet = true;
		few.threads = (struct opt_list){ .items = items, .n = 0 };
		for (uint32_t t = 0; t < p->ntemplates; t++) {
			uint32_t n = p->templates[t].count;
			if (strlen(p->templates[t].name) > sizeof *text - 8 || !n)
				continue;
			snprintf(text[t], sizeof *text, "%s=%u", p->templates[t].name,
			         n < INFER_THREADS ? n : INFER_THREADS);
			items[few.threads.n++] = text[t];
		}
		rc = model_load(cli, cmd, &l, path, &few);
		if (rc == EXIT_HOLDS && l.ir->nsuccs == p->nsuccs && l.ir->nblocks == p->nblocks)
			infer_points(cli, l.ir, out);
	} else if (out->edge && out->at_entry) {
		infer_points(cli, p, out);
		rc = EXIT_HOLDS;
	}
	lang_free(&l);
	free(text);
	free(items);
	return rc;
}

static int export_model(struct cli *cli, const struct cmd *cmd, const struct export *x, const char *path)
{
	struct lang l;
	struct diags d;
	struct buf text;
	struct points points = { NULL, NULL };
	lang_init(&l);
	buf_init(&text);
	int rc = model_load(cli, cmd, &l, path, &x->model);
	if (rc == EXIT_HOLDS && !x->net.format && !any_count(l.ir) && x->semantics == PROMELA_INSTRUMENTED && !x->commit &&
	    unmarked(l.ir))
		rc = find_points(cli, cmd, x, path, l.ir, &points);
	if (rc == EXIT_HOLDS && any_count(l.ir)) {
		rc = cli_usage(cli, cmd, "--threads: %s needs a number here, not 'any'", any_count(l.ir));
	} else if (rc == EXIT_HOLDS && x->net.format) {
		rc = export_net(cli, cmd, &x->net, &l);
	} else if (rc == EXIT_HOLDS) {
		diags_init(&d, &l.arena);
		struct promela_options o = { (enum promela_semantics)x->semantics, points.edge, points.at_entry };
		if (promela_export(l.ir, &o, &d, &text) && !text.failed)
			buf_add(&cli->out, buf_cstr(&text), text.len);
		else
			rc = d.errors ? EXIT_USAGE : EXIT_INTERNAL;
		diags_render(&d, &cli->err, cli->color_err);
		if (rc == EXIT_INTERNAL)
			buf_str(&cli->err, "intact export: out of memory\n");
	}
	buf_free(&text);
	lang_free(&l);
	free(points.edge);
	free(points.at_entry);
	return rc;
}

static int run(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	const char **args = calloc((size_t)argc * 4 + 4, sizeof *args);
	struct export x = { .promela = false };
	static const char *const nets[] = { "none", "pnml", "pep", "dot", NULL };
	static const char *const semantics[] = { "standard", "instrumented", NULL };
	static const char *const commit[] = { "inferred", "exit", NULL };
	const struct opt table[] = {
		{ OPT_FLAG, "promela", 0, NULL, &x.promela, "write Promela, for SPIN", 0, 0, NULL },
		{ OPT_CHOICE, "semantics", 0, "WHICH", &x.semantics, "the program itself, or with the shadow store", 0, 0, semantics },
		{ OPT_CHOICE, "commit", 0, "WHERE", &x.commit, "where blocks without marks commit", 0, 0, commit },
		{ OPT_CHOICE, "net", 0, "FORMAT", &x.net.format, "write the Petri net of its control and small data", 0, 0, nets },
		{ OPT_STR, "block", 0, "NAME", &x.net.block, "--net: with a second copy of this block, for its chosen occurrence", 0, 0, NULL },
		{ OPT_LIST, "track", 0, "NAME", &x.net.track, "--net: track the values of this variable", 0, 0, NULL },
		{ OPT_LIST, "abstract", 0, "NAME", &x.net.abstract, "--net: do not track the values of this variable", 0, 0, NULL },
		{ OPT_LIST, "threads", 0, "NAME=N", &x.model.threads, "run N threads of this name", 0, 0, NULL },
		{ OPT_FLAG, "keep-dead", 0, NULL, &x.model.keep_dead, "do not reset variables that are not read again", 0, 0, NULL },
		{ OPT_FLAG, "sml", 0, NULL, &x.model.sml, "read the file as SML regardless of its name", 0, 0, NULL },
		{ OPT_FLAG, "quiet", 'q', NULL, &x.model.quiet, "no warnings", 0, 0, NULL },
		{ 0 },
	};
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
		rc = cli_usage(cli, cmd, x.promela ? "--promela and --net cannot be combined"
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
	"export", "write a model for another checker", "export --promela|--net=FORMAT [OPTIONS] MODEL",
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
	NULL, run,
};
