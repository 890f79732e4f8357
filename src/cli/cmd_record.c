/*
 * cmd_record: `intact record`: a run that is recorded for `intact trace`
 * without reports.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "program/run_once.h"

/* The program's exit status is its own. */
static const char *record_options(struct arena *a)
{
	const char *old = getenv("INTACT_OPTIONS");
	return arena_printf(a, "%s%sexitcode=0", old ? old : "", old && *old ? ":" : "");
}

static int run_record(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	struct record_opts {
		const char *file;
		uint64_t keep;
		bool races;
	} r = { .file = "intact.trace" };
	const struct opt own[] = {
		{ OPT_STR, "output", 'o', "FILE", &r.file, "output file (default: intact.trace)", 0, 0, NULL },
		{ OPT_FLAG, "races", 0, NULL, &r.races, "record what data races are found from, too", 0, 0, NULL },
		{ OPT_SIZE, "keep-last", 0, "SIZE", &r.keep, "keep only about the last SIZE bytes", 0, 0, NULL },
		{ 0, NULL, 0, NULL, NULL, NULL, 0, 0, NULL },
	};
	const char **args = calloc((size_t)argc + 1, sizeof *args);
	struct opts opts = { .table = own, .args = args };
	struct buf err;
	int at = 0, rc;
	while (at < argc && argv[at][0] == '-' && strcmp(argv[at], "--") != 0) {
		bool value = !strcmp(argv[at], "-o") || !strcmp(argv[at], "--output") || !strcmp(argv[at], "--keep-last");
		at += value ? 2 : 1;
	}
	int words = at < argc ? at : argc;
	if (at < argc && !strcmp(argv[at], "--"))
		at++;
	buf_init(&err);
	if (!args) {
		rc = EXIT_INTERNAL;
	} else if (!opts_parse(&opts, words, argv, &err)) {
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	} else if (opts.help) {
		rc = cli_help(cli, cmd, own);
	} else if (at >= argc) {
		rc = cli_usage(cli, cmd, "missing PROGRAM argument");
	} else {
		struct settings s = { 0 };
		arena_init(&s.arena, 0);
		struct run_how how = { .record = r.file, .keep = r.keep, .silent = true, .races = r.races };
		setenv("INTACT_OPTIONS", record_options(&s.arena), 1);
		struct run_result result;
		rc = settings_of_command(&s, cli) ? run_once(cli, &s, &how, argv + at, &result) : EXIT_USAGE;
		settings_free(&s);
	}
	buf_free(&err);
	free(args);
	return rc;
}

const struct cmd cmd_record = {
	"record",
	"record what a program built with `intact cc` does",
	"record [-o FILE] [--keep-last SIZE] [--] PROGRAM [ARGUMENTS]",
	"Runs the program and records its accesses, locks, threads and calls, with their\n"
	"names, in one compressed file for `intact trace`. Reports nothing. The exit status is\n"
	"the program's, 128 + N if signal N killed it, and 70 if no process of the run was built\n"
	"with `intact cc`. `intact run --record FILE` records and reports.\n\n"
	"If the program is killed, the file contains everything up to that point. With\n"
	"--keep-last, only the last part of a long run is kept.\n",
	"@program",
	run_record,
};
