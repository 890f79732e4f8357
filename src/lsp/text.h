/*
 * text: the text of an open file, places in it as the protocol counts them, and edits.
 *
 * A position is a line (from 0; lines end with \n, \r\n or \r) and a number of UTF-16 code units in it. A line that does not
 * exist is the end of the text, a unit behind the end of its line is the end of the line, and the second half of a surrogate pair is
 * the beginning of its character. Offsets are bytes. The text is valid UTF-8.
 *
 * Representation: the bytes in one piece, and the offsets of the lines, which an edit computes again from its own line on. An edit
 * costs a copy of what is behind it.
 */
#ifndef INTACT_LSP_TEXT_H
#define INTACT_LSP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { TEXT_MAX = 8 << 20 };

struct text_pos {
	uint32_t line, unit;
};

struct doc_text {
	struct buf bytes;
	uint32_t *lines; /* offset of each line's first byte */
	uint32_t nlines, caplines;
};

void text_free(struct doc_text *t);
/* False: out of memory or longer than TEXT_MAX, and then the text is as before. */
bool text_set(struct doc_text *t, const char *s, size_t len);
/* Puts s in place of the bytes start .. end. */
bool text_edit(struct doc_text *t, uint32_t start, uint32_t end, const char *s, size_t len);
uint32_t text_offset(const struct doc_text *t, struct text_pos at);
struct text_pos text_pos(const struct doc_text *t, uint32_t offset);
/* The end of the line (without its line end). */
uint32_t text_line_end(const struct doc_text *t, uint32_t line);

#endif
