/*
 * check_text: the result of `intact check` as people read it: one line per
 * block, then each counterexample as a table with a sentence in front of it.
 */
#ifndef INTACT_REPORT_CHECK_TEXT_H
#define INTACT_REPORT_CHECK_TEXT_H

#include "base/buf.h"
#include "verdict/verdict.h"

struct check_text_options {
	unsigned width;
	bool utf8, color, stats;
	bool matrix;        /* a column an engine, of all that were asked */
	uint32_t max_rows;  /* of a counterexample; 0: all */
	const char *model;  /* as the user named it, for the next command to try */
};

void check_text(const struct ir *p, const struct verdict *v, uint32_t n,
                const struct check_text_options *o, struct buf *out);
/* "worker.update", or "program". */
void check_text_name(const struct ir *p, uint32_t block, struct buf *out);
/* PROBLEM_STUCK, PROBLEM_ENDLESS: which block does not finish alone, where it
 * is and why; a sentence. */
void check_text_halt(const struct ir *p, const struct verdict *v, struct buf *out);

#endif
