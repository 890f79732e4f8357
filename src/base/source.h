/*
 * source: one input text and its lines.
 *
 * A place in a text is a 32-bit byte offset; line and column are worked out
 * from the line table only when a message is printed. Columns count
 * characters (code points), from 1.
 */
#ifndef INTACT_BASE_SOURCE_H
#define INTACT_BASE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

#define SOURCE_MAX ((size_t)256 << 20) /* bytes of one input file */

struct span {
	uint32_t start, end; /* byte offsets, end exclusive */
};

struct source {
	const char *name; /* as the user gave it */
	const char *text; /* NUL after the last byte, not counted */
	uint32_t len;
	uint32_t *lines; /* offset of each line's first byte */
	uint32_t nlines;
	uint32_t line0; /* lines before the text, when it is a piece of a stream */
};

struct source_pos {
	uint32_t line, column; /* from 1 */
};

/*
 * Reads a file ("-" is standard input) into the arena. On failure returns
 * false and *why says what happened ("No such file or directory", "larger
 * than 256 MiB", ...), owned by the arena.
 */
bool source_read(struct source *src, struct arena *a, const char *path, struct why *why);
/* A source over text the caller keeps; `len` below SOURCE_MAX. */
void source_from_text(struct source *src, struct arena *a, const char *name, const char *text, size_t len);
/* The line alone: a binary search; source_pos also walks along the line. */
uint32_t source_line_of(const struct source *src, uint32_t offset);
struct source_pos source_pos(const struct source *src, uint32_t offset);
/* The bytes of a line (from 1) without its line end. */
const char *source_line(const struct source *src, uint32_t line, size_t *len);

#endif
