/*
 * check_table: the table of blocks of `intact check`: what was decided, by
 * which argument, for how many threads, in what time; after it, per block,
 * what the argument depends on and why the cheaper ones did not suffice;
 * and, for what is not known, how far each engine got and what to change.
 */
#ifndef INTACT_REPORT_CHECK_TABLE_H
#define INTACT_REPORT_CHECK_TABLE_H

#include "report/check_text.h"

/* "atomic", "NOT SERIALIZABLE", "FAULT", ... */
const char *check_headline(const struct verdict *v);
/* Its colour, as an escape sequence. */
const char *check_color(const struct verdict *v);
/* The text in that colour, when colours are on. */
void check_paint(struct buf *out, bool on, const char *color, const char *text);

void check_table(const struct ir *p, const struct verdict *v, uint32_t n, const struct check_text_options *o, struct buf *out);
/* --engine=all: a column an engine. */
void check_matrix(const struct ir *p, const struct verdict *v, uint32_t n, const struct check_text_options *o, struct buf *out);

#endif
