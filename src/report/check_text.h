/*
 * check_text: the result of `intact check` as people read it: one line per
 * block, then each counterexample as a table with a sentence in front of it.
 * Times have a column where they are known.
 */
#ifndef INTACT_REPORT_CHECK_TEXT_H
#define INTACT_REPORT_CHECK_TEXT_H

#include "report/checked.h"

struct check_text_options {
	unsigned width;
	bool utf8, color, stats;
	uint32_t max_rows; /* of a counterexample; 0: all */
};

void check_text(const struct checked *c, const struct check_text_options *o, struct buf *out);
/* "worker.update", or "program". */
void check_text_name(const struct ir *p, uint32_t block, struct buf *out);

#endif
