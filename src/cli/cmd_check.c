/* check: verify a model. */
#include <stdlib.h>
#include <string.h>

#include "cli/model.h"

static int run(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	int rc, dump = 0;
	const char **args = calloc((size_t)argc * 2 + 2, sizeof *args);
	struct model_options mo = { .threads = { args + argc + 1, 0 } };
	static const char *const dumps[] = { "none", "ir", NULL };
	const struct opt table[] = {
		{ OPT_LIST, "threads", 0, "NAME=N", &mo.threads, "run N threads of this name (or: any)", 0, 0, NULL },
		{ OPT_CHOICE, "dump", 0, "WHAT", &dump, "print the program instead of checking it", 0, 0, dumps },
		{ OPT_FLAG, "sml", 0, NULL, &mo.sml, "read the file as SML whatever its name", 0, 0, NULL },
		{ OPT_FLAG, "quiet", 'q', NULL, &mo.quiet, "no warnings", 0, 0, NULL },
		{ 0 },
	};
	struct opts o = { table, args, 0, false };
	struct buf err;
	struct lang l;
	if (!args)
		return EXIT_INTERNAL;
	buf_init(&err);
	lang_init(&l);
	if (!opts_parse(&o, argc, argv, &err))
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	else if (o.help)
		rc = cli_help(cli, cmd, table);
	else if (o.nargs != 1)
		rc = cli_usage(cli, cmd, o.nargs ? "one model at a time" : "which model?");
	else
		rc = model_load(cli, cmd, &l, args[0], &mo);
	if (rc == EXIT_HOLDS && !o.help && dump == 1)
		ir_print(l.ir, &cli->out);
	lang_free(&l);
	buf_free(&err);
	free(args);
	return rc;
}

const struct cmd cmd_check = {
	"check", "verify the atomic blocks of a model", "check [OPTIONS] MODEL",
	"Verifies a model (.atm or .sml).", NULL, run,
};
