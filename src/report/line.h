/*
 * line: one line of a table, written from left to right.
 *
 * Columns are counted as a terminal shows them (utf8_width), styles count
 * nothing. Padding is written only when text follows, so no line ends in
 * blanks. Text given here is safe already (buf_safe).
 */
#ifndef INTACT_REPORT_LINE_H
#define INTACT_REPORT_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define BOLD  "\033[1m"
#define DIM   "\033[2m"
#define RED   "\033[1;31m"
#define CYAN  "\033[36m"
#define RESET "\033[0m"

struct line {
	struct buf *out;
	bool color;
	unsigned at, pending; /* columns written; blanks owed */
};

/* The next text begins at this column, or where the last one ended. */
void line_pad(struct line *l, unsigned column);
/* Text in a style (NULL: none). */
void line_put(struct line *l, const char *style, const char *s, size_t len);
/* Cut to `width` columns, never inside a character, `dots` after the cut. */
void line_fit(struct line *l, const char *style, const char *s, size_t len, unsigned width, const char *dots);
/* The same, but the last `tail` bytes stay when there is room for them. */
void line_tail(struct line *l, const char *style, const char *s, size_t len, size_t tail, unsigned width, const char *dots);
/* A number, right-aligned in `width` columns. */
void line_number(struct line *l, const char *style, uint32_t n, unsigned width);

#endif
