/* export: `intact export --promela MODEL`, a model for another checker. */
#include <stdlib.h>

#include "cli/model.h"
#include "report/promela.h"

struct export {
	struct model_options model;
	bool promela;
	int semantics;
};

/* --threads name=any has no meaning for a model that is written out. */
static const char *any_count(const struct ir *p)
{
	for (uint32_t t = 0; t < p->ntemplates; t++)
		if (p->templates[t].any_count)
			return p->templates[t].name;
	return NULL;
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
	const char **args = calloc((size_t)argc * 2 + 2, sizeof *args);
	struct export x = { .promela = false };
	static const char *const semantics[] = { "standard", "instrumented", NULL };
	const struct opt table[] = {
		{ OPT_FLAG, "promela", 0, NULL, &x.promela, "write Promela, for SPIN", 0, 0, NULL },
		{ OPT_CHOICE, "semantics", 0, "WHICH", &x.semantics, "the program itself, or with the shadow store", 0, 0, semantics },
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
	buf_init(&err);
	if (!opts_parse(&o, argc, argv, &err))
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	else if (o.help)
		rc = cli_help(cli, cmd, table);
	else if (!x.promela)
		rc = cli_usage(cli, cmd, "which format? --promela is the one there is");
	else if (o.nargs != 1)
		rc = cli_usage(cli, cmd, o.nargs ? "one model at a time" : "which model?");
	else
		rc = export_model(cli, cmd, &x, args[0]);
	buf_free(&err);
	free(args);
	return rc;
}

const struct cmd cmd_export = {
	"export", "write a model for another checker", "export --promela [OPTIONS] MODEL",
	"Writes a model (.atm or .sml) as a Promela model on standard output. With the standard\n"
	"semantics SPIN finds the faults, failed assertions and deadlocks of the program; with the\n"
	"instrumented one a failed assertion also says that a block does not fit its commit point:\n"
	"its commit; marks, or its exit when it has none.\n\n"
	"  intact export --promela MODEL > m.pml; spin -a m.pml; gcc -O2 -DSAFETY -o pan pan.c; ./pan\n\n"
	"Exit code: 0 written, 2 usage, input, or something that is not exported, 4 internal error.",
	NULL, run,
};
