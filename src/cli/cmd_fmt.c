/* cmd_fmt: `intact fmt MODEL...`, models in their canonical layout (lang/fmt.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/replace.h"
#include "cli/cli.h"
#include "lang/fmt.h"

struct fmt_args {
	bool write, check, sml;
};

static bool is_sml(const char *path, bool flag)
{
	size_t n = strlen(path);
	return flag || (n >= 4 && !strcmp(path + n - 4, ".sml"));
}

static enum fmt_status one_file(struct cli *cli, const struct fmt_args *args, const char *path, struct arena *a)
{
	struct source src;
	struct diags d;
	struct why why;
	jmp_buf oom;
	struct buf text;
	buf_init(&text);
	if (setjmp(oom)) {
		buf_printf(&cli->err, "intact fmt: out of memory\n");
		buf_free(&text);
		return FMT_BAD_INPUT;
	}
	a->oom = &oom;
	if (!source_read(&src, a, path, &why)) {
		buf_str(&cli->err, "intact fmt: cannot read ");
		buf_safe(&cli->err, path, strlen(path));
		buf_printf(&cli->err, ": %s\n", why.text);
		return FMT_BAD_INPUT;
	}
	diags_init(&d, a);
	enum fmt_status st = fmt_source(&src, is_sml(path, args->sml), a, &d, &text);
	if (st == FMT_BAD_INPUT)
		diags_render(&d, &cli->err, cli->color_err);
	if (st == FMT_INTERNAL) {
		buf_str(&cli->err, "intact fmt: internal error: the formatted text of ");
		buf_safe(&cli->err, src.name, strlen(src.name));
		buf_str(&cli->err, " would have a different meaning; the file was not changed\n");
	}
	if (st == FMT_CHANGED && args->check) {
		buf_safe(&cli->out, path, strlen(path));
		buf_char(&cli->out, '\n');
	}
	if (st <= FMT_CHANGED && !args->check && !args->write)
		buf_add(&cli->out, buf_cstr(&text), text.len);
	if (st == FMT_CHANGED && args->write && !args->check && !file_replace(path, &text)) {
		buf_str(&cli->err, "intact fmt: cannot write ");
		buf_safe(&cli->err, path, strlen(path));
		buf_printf(&cli->err, ": %s\n", strerror(errno));
		st = FMT_BAD_INPUT;
	}
	buf_free(&text);
	return st;
}

static int format_files(struct cli *cli, const struct fmt_args *args, const char **paths, int n)
{
	assert(n >= 0 && (!n || paths));
	int rc = EXIT_HOLDS;
	for (int i = 0; i < n; i++) {
		struct arena a;
		arena_init(&a, 0);
		enum fmt_status st = one_file(cli, args, paths[i], &a);
		arena_free(&a);
		if (st == FMT_INTERNAL)
			rc = EXIT_INTERNAL;
		else if (st == FMT_BAD_INPUT && rc != EXIT_INTERNAL)
			rc = EXIT_USAGE;
		else if (st == FMT_CHANGED && args->check && rc == EXIT_HOLDS)
			rc = EXIT_VIOLATED;
	}
	return rc;
}

static int run(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	struct fmt_args args = { 0 };
	/* clang-format off */
	const struct opt table[] = {
		{ OPT_FLAG, "write", 'w', NULL, &args.write,
		  "rewrite the files in place", 0, 0, NULL },
		{ OPT_FLAG, "check", 0, NULL, &args.check,
		  "change nothing; name the files that would change, exit 1 if any", 0, 0, NULL },
		{ OPT_FLAG, "sml", 0, NULL, &args.sml,
		  "read the input as SML regardless of its name", 0, 0, NULL },
		{ .help = NULL },
	};
	/* clang-format on */
	const char **paths = calloc((size_t)argc + 1, sizeof *paths);
	struct opts o = { table, paths, 0, false };
	struct buf why;
	int rc;
	buf_init(&why);
	if (!paths) {
		rc = EXIT_INTERNAL;
	} else if (!opts_parse(&o, argc, argv, &why)) {
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&why));
	} else if (o.help) {
		rc = cli_help(cli, cmd, table);
	} else if (o.nargs == 0) {
		rc = cli_usage(cli, cmd, "missing MODEL argument ('-' is standard input)");
	} else {
		rc = EXIT_HOLDS;
		for (int i = 0; i < o.nargs; i++)
			if (args.write && !args.check && !strcmp(paths[i], "-"))
				rc = cli_usage(cli, cmd, "--write cannot rewrite standard input");
		if (rc == EXIT_HOLDS)
			rc = format_files(cli, &args, paths, o.nargs);
	}
	buf_free(&why);
	free(paths);
	return rc;
}

const struct cmd cmd_fmt = {
	"fmt",
	"put models into their canonical layout",
	"fmt [--write | --check] MODEL...",
	"Prints each model (.atm, .sml) in its canonical layout: two spaces per level, one\n"
	"statement per line, comments kept. The meaning never changes: the output is parsed\n"
	"again and compared with the input first. A file with errors is not changed.\n\n"
	"exit codes: 0 done, 1 --check found files that would change, 2 wrong input.",
	"*.atm *.sml",
	run,
};
