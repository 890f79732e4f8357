/*
 * cmd_symbolize: `intact symbolize` prints the findings of a program that runs
 * by itself; the program starts it when it ends (runtime/report.c).
 */
#include <stdio.h>
#include <string.h>

#include "cli/run_settings.h"

static int run_symbolize(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	struct settings s = { 0 };
	struct buf in, text;
	char block[65536];
	size_t n;
	if (argc > 0 && (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h")))
		return cli_help(cli, cmd, NULL);
	if (argc > 0)
		return cli_usage(cli, cmd, "takes no arguments");
	buf_init(&in);
	buf_init(&text);
	arena_init(&s.arena, 0);
	while ((n = fread(block, 1, sizeof block, stdin)) && in.len < 64u << 20)
		buf_add(&in, block, n);
	settings_read(cli, &s); /* a bad file is told of; the findings are shown */
	struct raw_report r;
	int rc = EXIT_HOLDS;
	if (raw_parse(&r, &s.arena, buf_cstr(&in), in.len)) {
		findings_text(&r, &s.filter, &s.text, &s.arena, &s.shown, &text);
		findings_close(&s.filter, &s.shown, s.print_suppressions, &text);
		settings_deliver(cli, &s, &text, r.pid);
		rc = s.shown.count ? EXIT_VIOLATED : EXIT_HOLDS;
	} else {
		rc = cli_usage(cli, cmd, "standard input is no message of a watched program");
	}
	buf_free(&in);
	buf_free(&text);
	arena_free(&s.arena);
	return rc;
}

const struct cmd cmd_symbolize = {
	"symbolize", "print what a watched program found (it calls this itself)", "symbolize < MESSAGE",
	"Reads the message of a program built with `intact cc` from standard input\n"
	"and prints it as a report. Exit status 1 when something was shown.\n",
	NULL, run_symbolize,
};
