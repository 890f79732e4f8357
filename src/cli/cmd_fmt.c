/*
 * fmt: `intact fmt MODEL...`, models in their canonical layout.
 *
 * Nothing is written that does not parse back to the tree it came from. A
 * file is replaced by renaming a finished one over it, so that a reader sees
 * the old text or the new one; its permissions stay.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "lang/fmt.h"
#include "lang/parse.h"

struct fmt_args {
	bool write, check, sml;
};

enum fmt_status { FMT_SAME, FMT_CHANGED, FMT_BAD_INPUT, FMT_INTERNAL };

static bool is_sml(const char *path, bool flag)
{
	size_t n = strlen(path);
	return flag || (n >= 4 && !strcmp(path + n - 4, ".sml"));
}

static struct unit *parse(const struct source *src, bool sml, struct intern *names,
                          struct arena *a, struct diags *d, struct tokens *toks)
{
	return sml ? parse_sml(src, names, a, d, toks) : parse_atm(src, names, a, d, toks);
}

/* The canonical text of `src` in `text`; everything else lives in `a`. */
static enum fmt_status format(struct cli *cli, const struct source *src, bool sml,
                              struct arena *a, struct buf *text)
{
	struct diags d, d2;
	struct intern names;
	struct tokens toks, toks2;
	diags_init(&d, a);
	diags_init(&d2, a);
	intern_init(&names, a);
	struct unit *u = parse(src, sml, &names, a, &d, &toks);
	if (d.errors) {
		diags_render(&d, &cli->err, cli->color_err);
		return FMT_BAD_INPUT;
	}
	fmt_unit(u, &toks, a, text);
	struct source again;
	source_from_text(&again, a, src->name, buf_cstr(text), text->len);
	struct unit *v = parse(&again, sml, &names, a, &d2, &toks2);
	if (text->failed || d2.errors || !ast_equal(u, v)) {
		buf_str(&cli->err, "intact fmt: internal error: the formatted text of ");
		buf_safe(&cli->err, src->name, strlen(src->name));
		buf_str(&cli->err, " would have a different meaning; the file was not changed\n");
		return FMT_INTERNAL;
	}
	bool same = text->len == src->len && !memcmp(buf_cstr(text), src->text, text->len);
	return same ? FMT_SAME : FMT_CHANGED;
}

static bool write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t k = write(fd, p, n);
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		p += k;
		n -= (size_t)k;
	}
	return true;
}

/* Replaces the file by a rename; a link is followed, so that it stays one. */
static bool replace(const char *path, const struct buf *text)
{
	struct stat st;
	char *real = realpath(path, NULL), *tmp = NULL;
	bool ok = real && asprintf(&tmp, "%s.XXXXXX", real) > 0;
	int fd = ok && stat(real, &st) == 0 ? mkstemp(tmp) : -1;
	ok = fd >= 0 && write_all(fd, buf_cstr(text), text->len) &&
	     fchmod(fd, st.st_mode & 07777) == 0 && fsync(fd) == 0;
	if (ok && fchown(fd, st.st_uid, st.st_gid) != 0)
		errno = 0; /* someone else's file stays readable, but becomes ours */
	if (fd >= 0 && close(fd) != 0)
		ok = false;
	ok = ok && rename(tmp, real) == 0;
	int why = errno;
	if (!ok && fd >= 0)
		unlink(tmp);
	free(tmp);
	free(real);
	errno = why;
	return ok;
}

static enum fmt_status one_file(struct cli *cli, const struct fmt_args *args,
                                const char *path, struct arena *a)
{
	struct source src;
	const char *why;
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
		buf_printf(&cli->err, ": %s\n", why);
		return FMT_BAD_INPUT;
	}
	enum fmt_status st = format(cli, &src, is_sml(path, args->sml), a, &text);
	if (st == FMT_CHANGED && args->check) {
		buf_safe(&cli->out, path, strlen(path));
		buf_char(&cli->out, '\n');
	}
	if (st <= FMT_CHANGED && !args->check && !args->write)
		buf_add(&cli->out, buf_cstr(&text), text.len);
	if (st == FMT_CHANGED && args->write && !args->check && !replace(path, &text)) {
		buf_str(&cli->err, "intact fmt: cannot write ");
		buf_safe(&cli->err, path, strlen(path));
		buf_printf(&cli->err, ": %s\n", strerror(errno));
		st = FMT_BAD_INPUT;
	}
	buf_free(&text);
	return st;
}

static int format_files(struct cli *cli, const struct fmt_args *args,
                        const char **paths, int n)
{
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
	const struct opt table[] = {
		{ OPT_FLAG, "write", 'w', NULL, &args.write,
		  "rewrite the files in place", 0, 0, NULL },
		{ OPT_FLAG, "check", 0, NULL, &args.check,
		  "change nothing; name the files that would change, exit 1 if any", 0, 0, NULL },
		{ OPT_FLAG, "sml", 0, NULL, &args.sml,
		  "read the input as SML regardless of its name", 0, 0, NULL },
		{ .help = NULL },
	};
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
	"fmt", "put models into their canonical layout", "fmt [--write | --check] MODEL...",
	"Prints each model (.atm, .sml) in its canonical layout: two spaces per level, one\n"
	"statement per line, comments kept. The meaning never changes: the output is parsed\n"
	"again and compared with the input first. A file with errors is not changed.\n\n"
	"exit codes: 0 done, 1 --check found files that would change, 2 wrong input.",
	NULL, run,
};
