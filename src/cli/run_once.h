/*
 * run_once: one run of a watched program, from its start to its report.
 */
#ifndef INTACT_CLI_RUN_ONCE_H
#define INTACT_CLI_RUN_ONCE_H

#include "cli/run_settings.h"

struct run_how {
	const char *record;  /* also record into this file; NULL: no */
	uint64_t keep;       /* about its last bytes; 0: all */
	bool silent;         /* findings are not shown */
	bool halt, loops;    /* halt_on_error, report_loops */
};

/*
 * Runs argv, adds what it and its children find to s->shown and delivers the
 * text. Returns the program's exit status (128 + N for signal N), or
 * EXIT_USAGE after a message when it could not be watched.
 */
int run_once(struct cli *cli, struct settings *s, const struct run_how *how, char **argv);

#endif
