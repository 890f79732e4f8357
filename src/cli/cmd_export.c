/* export: `intact export --promela MODEL` and `--net=FORMAT MODEL`, a model for
 * another checker. */
#include <stdlib.h>
#include <string.h>

#include "causal/program.h"
#include "cli/model.h"
#include "report/promela.h"

struct export {
	struct model_options model;
	bool promela;
	int semantics;
	int net; /* NET_* */
	const char *block;
	struct opt_list track, abstract;
};

enum { NET_OFF, NET_PNML, NET_PEP, NET_DOT };

/* --threads name=any has no meaning for a model that is written out. */
static const char *any_count(const struct ir *p)
{
	for (uint32_t t = 0; t < p->ntemplates; t++)
		if (p->templates[t].any_count)
			return p->templates[t].name;
	return NULL;
}

/* The first thread that has the block of this name, and the block. */
static bool find_block(const struct ir *p, const char *name, uint32_t *thread, uint32_t *block)
{
	for (uint32_t b = 0; b < p->nblocks; b++)
		if (!strcmp(p->blocks[b].name, name)) {
			*block = b;
			*thread = p->templates[p->blocks[b].tmpl].first_thread;
			return true;
		}
	return false;
}

static bool write_net(const struct ir *p, const struct export *x, struct arena *a, struct diags *d,
                      struct buf *out, const char **limit)
{
	struct program_options po = { .track = x->track.items, .abstract = x->abstract.items,
		                      .ntrack = (uint32_t)x->track.n,
		                      .nabstract = (uint32_t)x->abstract.n };
	struct program g;
	struct colour_net n;
	uint32_t thread = 0, block = IR_NONE;
	if (x->block)
		find_block(p, x->block, &thread, &block);
	if (program_make(p, &po, a, d, &g, limit) != PROGRAM_OK ||
	    !program_net(&g, &thread, x->block ? 1 : 0, block, a, d, &n, limit))
		return false;
	switch (x->net) {
	case NET_PNML: net_write_pnml(&n.net, out); break;
	case NET_PEP: net_write_pep(&n.net, out); break;
	default: net_write_dot(&n.net, out); break;
	}
	return true;
}

static int export_net(struct cli *cli, const struct cmd *cmd, const struct export *x,
                      struct lang *l, struct buf *text)
{
	struct diags d;
	const char *limit = NULL;
	uint32_t thread, block;
	int rc = EXIT_HOLDS;
	if (x->block && !find_block(l->ir, x->block, &thread, &block))
		return cli_usage(cli, cmd, "--block: the model has no block '%s'", x->block);
	diags_init(&d, &l->arena);
	if (write_net(l->ir, x, &l->arena, &d, text, &limit) && !text->failed) {
		buf_add(&cli->out, buf_cstr(text), text->len);
	} else if (d.errors) {
		rc = EXIT_USAGE;
	} else {
		buf_printf(&cli->err, "intact export: no net: limit reached (%s)\n",
		           limit ? limit : "memory");
		rc = EXIT_UNKNOWN;
	}
	diags_render(&d, &cli->err, cli->color_err);
	return rc;
}

static int export_model(struct cli *cli, const struct cmd *cmd, const struct export *x, const char *path)
{
	struct lang l;
	struct diags d;
	struct buf text;
	lang_init(&l);
	buf_init(&text);
	int rc = model_load(cli, cmd, &l, path, &x->model);
	if (rc == EXIT_HOLDS && any_count(l.ir)) {
		rc = cli_usage(cli, cmd, "--threads: %s needs a number here, not 'any'", any_count(l.ir));
	} else if (rc == EXIT_HOLDS && x->net) {
		rc = export_net(cli, cmd, x, &l, &text);
	} else if (rc == EXIT_HOLDS) {
		diags_init(&d, &l.arena);
		if (promela_export(l.ir, (enum promela_semantics)x->semantics, &d, &text) && !text.failed)
			buf_add(&cli->out, buf_cstr(&text), text.len);
		else
			rc = d.errors ? EXIT_USAGE : EXIT_INTERNAL;
		diags_render(&d, &cli->err, cli->color_err);
		if (rc == EXIT_INTERNAL)
			buf_str(&cli->err, "intact export: out of memory\n");
	}
	buf_free(&text);
	lang_free(&l);
	return rc;
}

static int run(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	const char **args = calloc((size_t)argc * 4 + 4, sizeof *args);
	struct export x = { .promela = false };
	static const char *const nets[] = { "none", "pnml", "pep", "dot", NULL };
	static const char *const semantics[] = { "standard", "instrumented", NULL };
	const struct opt table[] = {
		{ OPT_FLAG, "promela", 0, NULL, &x.promela, "write Promela, for SPIN", 0, 0, NULL },
		{ OPT_CHOICE, "semantics", 0, "WHICH", &x.semantics, "the program itself, or with the shadow store", 0, 0, semantics },
		{ OPT_CHOICE, "net", 0, "FORMAT", &x.net, "write the Petri net of its control and small data", 0, 0, nets },
		{ OPT_STR, "block", 0, "NAME", &x.block, "--net: with a second copy of this block, for its chosen occurrence", 0, 0, NULL },
		{ OPT_LIST, "track", 0, "NAME", &x.track, "--net: keep the values of this variable", 0, 0, NULL },
		{ OPT_LIST, "abstract", 0, "NAME", &x.abstract, "--net: forget the values of this variable", 0, 0, NULL },
		{ OPT_LIST, "threads", 0, "NAME=N", &x.model.threads, "run N threads of this name", 0, 0, NULL },
		{ OPT_FLAG, "keep-dead", 0, NULL, &x.model.keep_dead, "do not reset variables that are not read again", 0, 0, NULL },
		{ OPT_FLAG, "sml", 0, NULL, &x.model.sml, "read the file as SML whatever its name", 0, 0, NULL },
		{ OPT_FLAG, "quiet", 'q', NULL, &x.model.quiet, "no warnings", 0, 0, NULL },
		{ 0 },
	};
	struct opts o = { table, args, 0, false };
	struct buf err;
	int rc;
	if (!args)
		return EXIT_INTERNAL;
	x.model.threads.items = args + argc + 1;
	x.track.items = args + 2 * argc + 2;
	x.abstract.items = args + 3 * argc + 3;
	buf_init(&err);
	if (!opts_parse(&o, argc, argv, &err))
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	else if (o.help)
		rc = cli_help(cli, cmd, table);
	else if (!x.promela == !x.net)
		rc = cli_usage(cli, cmd, x.net ? "--promela or --net, one at a time"
		                               : "which format? --promela or --net=pnml|pep|dot");
	else if (!x.net && (x.block || x.track.n || x.abstract.n))
		rc = cli_usage(cli, cmd, "--block, --track and --abstract are for --net");
	else if (o.nargs != 1)
		rc = cli_usage(cli, cmd, o.nargs ? "one model at a time" : "which model?");
	else
		rc = export_model(cli, cmd, &x, args[0]);
	buf_free(&err);
	free(args);
	return rc;
}

const struct cmd cmd_export = {
	"export", "write a model for another checker", "export --promela|--net=FORMAT [OPTIONS] MODEL",
	"--net writes the Petri net that causal atomicity is defined on: a place a lock and a value of a\n"
	"small variable, a transition a step, all other data forgotten; as PNML, PEP's ll_net, or dot.\n\n"
	"  intact export --net=pep MODEL | intact net -\n\n"
	"--promela writes a model (.atm or .sml) as a Promela model on standard output. With the standard\n"
	"semantics SPIN finds the faults, failed assertions and deadlocks of the program; with the\n"
	"instrumented one a failed assertion also says that a block does not fit its commit point:\n"
	"its commit; marks, or its exit when it has none.\n\n"
	"  intact export --promela MODEL > m.pml; spin -a m.pml; gcc -O2 -DSAFETY -o pan pan.c; ./pan\n\n"
	"Exit code: 0 written, 2 usage, input, or something that is not exported, 3 a limit was\n"
	"reached, 4 internal error.",
	NULL, run,
};
