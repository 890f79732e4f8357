/* cmd_lsp: `intact lsp`, the language server of models and specifications (lsp/lsp.h). */
#include <stdlib.h>
#include <unistd.h>

#include "base/invariant.h"
#include "cli/cli.h"
#include "lsp/lsp.h"

static int run(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	struct lsp_options args = { .timeout = 60, .max_memory = (uint64_t)1 << 30 };
	bool stdio = false;
	/* clang-format off */
	const struct opt table[] = {
		{ OPT_FLAG, "stdio", 0, NULL, &stdio,
		  "use standard input and output (the default; editors pass it)", 0, 0, NULL },
		{ OPT_UINT, "timeout", 0, "SECONDS", &args.timeout,
		  "time limit of a check (default 60)", 1, 86400, NULL },
		{ OPT_SIZE, "max-memory", 0, "SIZE", &args.max_memory,
		  "memory limit of a check (default 1G)", 1 << 20, 0, NULL },
		{ .help = NULL },
	};
	/* clang-format on */
	const char **words = calloc((size_t)argc + 1, sizeof *words);
	struct opts o = { table, words, 0, false };
	struct buf why;
	int rc = EXIT_INTERNAL;
	buf_init(&why);
	if (!words)
		return rc;
	if (!opts_parse(&o, argc, argv, &why))
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&why));
	else if (o.help)
		rc = cli_help(cli, cmd, table);
	else if (o.nargs)
		rc = cli_usage(cli, cmd, "takes no arguments");
	else if (isatty(0))
		rc = cli_usage(cli, cmd, "standard input is a terminal: an editor starts this command (docs/editors.md)");
	else
		rc = lsp_serve(&args, 0, 1);
	buf_free(&why);
	free(words);
	assert(rc >= EXIT_HOLDS && rc <= EXIT_INTERNAL);
	return rc;
}

const struct cmd cmd_lsp = {
	"lsp",
	"language server for editors (models and specifications)",
	"lsp [OPTIONS]",
	"Speaks the Language Server Protocol on standard input and output, for .atm, .sml and .spec files: diagnostics\n"
	"while typing, formatting, definitions, references, renaming, hover (the locks that protect a variable, the\n"
	"verdict of a block), completion, and lenses that check a block or show its run. An editor starts it:\n"
	"docs/editors.md has the few lines for each.\n\n"
	"Exit code: 0 shut down by the client, 1 the client ended without a shutdown, 2 usage, 4 internal error.",
	"",
	run,
};
