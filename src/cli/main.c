/*
 * main: `intact COMMAND ...`, in the manner of git.
 *
 * Finds the command (suggesting the nearest one for a slip), sets up colours,
 * runs it, flushes what it said.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/fold.h"
#include "base/invariant.h"
#include "cli/cli.h"
#include "cli/cmd_help.h"
#include "cli/project_options.h"
#include "version.h"

extern const struct cmd cmd_check, cmd_verify, cmd_sim, cmd_fmt, cmd_history, cmd_trace, cmd_help, cmd_version, cmd_cc, cmd_cxx,
	cmd_explain, cmd_diff, cmd_export, cmd_explore, cmd_run, cmd_record, cmd_symbolize, cmd_net, cmd_report, cmd_doctor,
	cmd_init, cmd_lsp, cmd_merge;

const struct cmd *const cli_commands[] = {
	&cmd_check,  &cmd_sim,     &cmd_fmt,    &cmd_export,  &cmd_run,       &cmd_explore, &cmd_record,  &cmd_cc,
	&cmd_cxx,    &cmd_history, &cmd_trace,  &cmd_explain, &cmd_verify,    &cmd_net,     &cmd_diff,    &cmd_merge,
	&cmd_report, &cmd_init,    &cmd_doctor, &cmd_lsp,     &cmd_symbolize, &cmd_help,    &cmd_version, NULL,
};

/* `intact-cc` and `intact-c++` are `intact cc` and `intact c++`. */
static const struct cmd *by_own_name(const char *self)
{
	const char *slash = self ? strrchr(self, '/') : NULL;
	const char *name = slash ? slash + 1 : self ? self : "";
	if (!strcmp(name, "intact-cc"))
		return &cmd_cc;
	return !strcmp(name, "intact-c++") ? &cmd_cxx : NULL;
}

static int dispatch(struct cli *cli, int argc, char **argv)
{
	assert(argc >= 1);
	const struct cmd *own = by_own_name(argv[0]);
	if (own)
		return own->run(cli, own, argc - 1, argv + 1);
	if (argc < 2) {
		help_overview(&cli->err);
		return EXIT_USAGE;
	}
	const char *name = argv[1];
	if (!strcmp(name, "--help") || !strcmp(name, "-h"))
		name = "help";
	if (!strcmp(name, "--version") || !strcmp(name, "-V"))
		name = "version";
	if (name[0] == '-') {
		buf_str(&cli->err, "intact: unknown option '");
		buf_safe(&cli->err, name, strlen(name));
		buf_str(&cli->err, "'; options must follow a command\n");
		return EXIT_USAGE;
	}
	const struct cmd *c = cli_find(name);
	if (!c)
		return cli_unknown_command(cli, name);
	const char *project = getenv("INTACT_PROJECT");
	if (project && !strcmp(project, "none"))
		return c->run(cli, c, argc - 2, argv + 2);
	struct project_words words;
	int rc = EXIT_USAGE;
	if (project_options(cli, c, project && *project ? project : NULL, argc - 2, argv + 2, &words))
		rc = c->run(cli, c, words.argc, words.argv);
	project_words_free(&words);
	return rc;
}

/* By the environment, as the C library would: LC_ALL, LC_CTYPE, LANG. */
static bool utf8_locale(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	for (int i = 0; i < 3; i++) {
		const char *v = getenv(names[i]);
		if (v && *v)
			return strcasestr(v, "utf-8") || strcasestr(v, "utf8");
	}
	return false;
}

int main(int argc, char **argv)
{
	struct cli cli = { .columns = 100 };
	struct winsize ws;
	cli.keeps_pipe = signal(SIGPIPE, SIG_IGN) == SIG_IGN;
	buf_init(&cli.out);
	buf_init(&cli.err);
	const char *no_color = getenv("NO_COLOR");
	bool color = !(no_color && *no_color);
	cli.color_out = color && isatty(1);
	cli.color_err = color && isatty(2);
	cli.utf8_out = isatty(1) && utf8_locale();
	if (isatty(1) && ioctl(1, TIOCGWINSZ, &ws) == 0 && ws.ws_col >= 40)
		cli.columns = ws.ws_col;

	int rc = dispatch(&cli, argc, argv);

	if (cli.prose && isatty(1)) {
		struct buf folded;
		buf_init(&folded);
		fold_lines(&folded, buf_cstr(&cli.out), cli.out.len, cli.columns);
		folded.failed |= cli.out.failed;
		buf_free(&cli.out);
		cli.out = folded;
	}
	bool ok = buf_flush(&cli.err, stderr);
	if (!buf_flush(&cli.out, stdout)) {
		fputs("intact: cannot write the result to standard output\n", stderr);
		ok = false;
	}
	buf_free(&cli.out);
	buf_free(&cli.err);
	return ok || rc ? rc : EXIT_INTERNAL;
}
