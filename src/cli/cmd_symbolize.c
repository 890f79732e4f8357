/*
 * cmd_symbolize: `intact symbolize` prints the findings of a program that runs
 * by itself; the program starts it when it ends (runtime/report.c).
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "program/run_settings.h"

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
	while ((n = fread(block, 1, sizeof block, stdin)))
		buf_add(&in, block, n);
	settings_of_command(&s, cli); /* a bad file is reported; the findings are shown */
	struct raw_reports all = { 0 };
	int rc = EXIT_HOLDS;
	if (in.failed) {
		buf_str(&cli->err, "intact: out of memory for the findings of a program\n");
		rc = EXIT_INTERNAL;
	} else if (raw_add_all(&all, &s.arena, buf_cstr(&in), in.len)) {
		for (uint32_t i = 0; i < all.list.len; i++)
			findings_add(all.list.data[i], &s.filter, &s.text, &s.arena, &s.shown);
		findings_rank(&s.filter, &s.text, &s.arena, &s.shown);
		findings_close(&s.filter, &s.shown, s.print_suppressions, &s.log);
		findings_tell(&s.log, &s.text, &text);
		settings_deliver(cli, &s, &text, all.list.data[0]->pid);
		rc = s.shown.count || settings_cut(&s) ? EXIT_VIOLATED : EXIT_HOLDS;
	} else {
		rc = cli_usage(cli, cmd,
		               raw_other_version(buf_cstr(&in), in.len)
		                       ? "the program was built with another version of Intact; build it again"
		                       : "standard input is not a message of a watched program");
	}
	raw_free(&all);
	buf_free(&in);
	buf_free(&text);
	settings_free(&s);
	return rc;
}

const struct cmd cmd_symbolize = {
	"symbolize",
	"print the findings of a watched program (called by the program)",
	"symbolize < MESSAGE",
	"Reads the message of a program built with `intact cc` from standard input\n"
	"and prints it as a report. Exit status 1 when something was shown.\n",
	NULL,
	run_symbolize,
};
