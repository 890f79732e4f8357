/*
 * check_text: the result of `intact check` as people read it: one line per
 * block, then each counterexample as a table with a sentence in front of it.
 * Times have a column where they are known.
 */
#ifndef INTACT_REPORT_CHECK_TEXT_H
#define INTACT_REPORT_CHECK_TEXT_H

#include "report/checked.h"
#include "verdict/object_history.h"

struct check_text_options {
	unsigned width;
	bool utf8, color, stats;
	uint32_t max_rows; /* of a counterexample; 0: all */
};

void check_text(const struct checked *c, const struct check_text_options *o, struct buf *out);
/* "worker.update", or "program". */
void check_text_name(const struct ir *p, uint32_t block, struct buf *out);

/* What a certificate covers is called so: "worker.update", "faults", "always x <= 1". */
void check_text_certified(const struct ir *p, const struct certified_question *q, struct buf *out);

/* ---- causal_text.c ---- */

/* Of a result with verdicts about causality alone. */
void causal_text(const struct checked *c, const struct check_text_options *o, struct buf *out);

/* ---- check_table.c ---- */

/* "atomic", "NOT SERIALIZABLE", "FAULT", ... */
const char *check_headline(const struct verdict *v);
/* Its colour, as an escape sequence. */
const char *check_color(const struct verdict *v);
/* The text in that colour, when colours are on. */
void check_paint(struct buf *out, bool on, const char *color, const char *text);

void check_table(const struct ir *p, const struct verdict *v, uint32_t n, const struct check_text_options *o, struct buf *out);
/* --engine=all: a column an engine. */
void check_matrix(const struct ir *p, const struct verdict *v, uint32_t n, const struct check_text_options *o, struct buf *out);

/* ---- object_text.c ---- */

void object_draw(const struct object_history *h, unsigned width, bool utf8, struct buf *out);

#endif
