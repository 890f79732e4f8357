/*
 * run_report: the messages of watched programs (report/finding.h) as results of
 * `intact run`, with the settings of INTACT_OPTIONS.
 */
#ifndef INTACT_PROGRAM_RUN_REPORT_H
#define INTACT_PROGRAM_RUN_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "base/symtab.h"
#include "report/trace_judged.h"

struct run_message {
	const char *text;
	size_t len;
	const struct symtab *symbols; /* for its addresses; NULL: look them up */
};

/* How they are shown. */
struct run_reporting {
	const char *options;  /* as INTACT_OPTIONS has them; NULL: none */
	const char *baseline; /* a file with known findings; NULL: none are */
	struct buf *err;      /* a file that they name cannot be read */
	bool color;           /* ... in colours */
	bool all;             /* what is not shown by default, too */
	bool progress;        /* a line on standard error about names that take their time */
};

/* The findings as the results of a document (docs/json.md, `intact run`), and the lines that close
 * their text. False when a setting cannot be read (how->err says so). */
bool run_report(const struct run_reporting *how, const struct run_message *m, uint32_t n, struct buf *results, struct buf *summary,
                struct run_shown *shown);

#endif
