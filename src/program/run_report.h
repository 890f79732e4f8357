/*
 * run_report: the messages of watched programs (report/finding.h) as the text
 * that `intact run` prints, with the settings of INTACT_OPTIONS.
 */
#ifndef INTACT_PROGRAM_RUN_REPORT_H
#define INTACT_PROGRAM_RUN_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "base/symtab.h"
#include "base/console.h"

struct run_message {
	const char *text;
	size_t len;
	const struct symtab *symbols; /* for its addresses; NULL: look them up */
};

struct run_shown {
	uint32_t count, confirmed, suppressed;
	bool cut; /* there was more than is kept */
};

/* False when a setting cannot be read (cli->err says so). `results` (or NULL)
 * gets the findings as the results of a document (docs/json.md, `intact run`). */
bool run_report(struct cli *cli, const struct run_message *m, uint32_t n, struct buf *out,
                struct buf *results, struct run_shown *shown);

#endif
