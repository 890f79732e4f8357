/*
 * run_once: one run of a watched program, from its start to its report.
 */
#ifndef INTACT_PROGRAM_RUN_ONCE_H
#define INTACT_PROGRAM_RUN_ONCE_H

#include "program/run_processes.h"
#include "program/run_settings.h"

enum { EXIT_UNWATCHED = 70 }; /* sysexits' EX_SOFTWARE; also when findings were cut */

struct run_how {
	const char *record; /* also record into this file; NULL: no */
	uint64_t keep;      /* about its last bytes; 0: all */
	bool silent;        /* findings are not shown */
	bool halt, loops;   /* halt_on_error, report_loops */
	bool races;         /* data races, too */
	bool locks;         /* what is wrong with locks, too */
	bool no_races, no_locks;
	uint64_t perturb; /* the seed of delays; 0: none */
	const char *only; /* look only for these; NULL: no */
	/* Before findings are shown: what the processes said, the program's own first. NULL: nothing to do. */
	void (*explore)(void *arg, struct raw_report *const *said, uint32_t n);
	void *arg;
	bool stdout_taken; /* a report goes there: the program's goes to stderr */
};

struct run_result {
	struct processes processes;
	int status, signal; /* of the program; signal 0: it ended by itself */
	bool failed;        /* it could not be run */
	bool watched;       /* a process of the run was */
};

/*
 * Runs argv, adds what it and its children find to s->shown and delivers the
 * text. Says in cli->err how it ended when that was by a signal, and what was not
 * watched. Returns the program's exit status (128 + N for signal N),
 * EXIT_UNWATCHED when no process was watched, 126 or 127 when it cannot be run,
 * EXIT_USAGE when it cannot listen. What *r holds lives in s->arena.
 */
int run_once(struct cli *cli, struct settings *s, const struct run_how *how, char **argv, struct run_result *r);
/* Why nothing was watched; NULL: something was. */
const char *run_unwatched(const struct run_result *r);

/* ---- run_document.c: what came of a watched run, as a document (docs/json.md, kind "run") ---- */

/* The findings are those of s->log (run_log_begin). */
void run_document(const struct settings *s, const char *program, const struct run_result *r, struct buf *out);

/* ---- run_infer.c: `intact run --infer`: a specification of what is not atomic, from what runs show ---- */

/* Runs argv until nothing new is found, at most `runs` times, and writes the specification to `path`, which is read first when it
 * exists. The status of the last run (run_once.h), or EXIT_USAGE after a message. */
int run_infer(struct cli *cli, struct settings *s, const struct run_how *how, const char *path, uint64_t runs, char **argv,
              struct run_result *r);

#endif
