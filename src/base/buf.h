/*
 * buf: a growable byte string for output.
 *
 * Everything the tool prints is first written into a buf and handed to the
 * file at once, so that renderers are functions from data to bytes and tests
 * can read what they made. When out of memory the buf sets `failed` and
 * drops what does not fit; who flushes it looks at that once.
 *
 * why: the reason of a failure that has no place in a text. It needs no memory and no
 * freeing; what has a place goes into diags (base/diag.h).
 */
#ifndef INTACT_BASE_BUF_H
#define INTACT_BASE_BUF_H

#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

typedef unsigned long long ull; /* what %llu and %llx take */

struct buf {
	char *data; /* NUL-terminated whenever not NULL */
	size_t len, cap;
	bool failed;
};

void buf_init(struct buf *b);
void buf_free(struct buf *b);
void buf_clear(struct buf *b); /* keeps the memory */

void buf_add(struct buf *b, const char *s, size_t len);
void buf_str(struct buf *b, const char *s);
void buf_char(struct buf *b, char c);
void buf_repeat(struct buf *b, char c, size_t n);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap);

/*
 * Text from outside (names, source lines): bytes that could act on a terminal
 * (control characters, invalid UTF-8, bidirectional overrides) are written as
 * \xNN or \u{NNNN}. Tabs become a space.
 */
void buf_safe(struct buf *b, const char *s, size_t len);
/* A JSON string with its quotes; invalid UTF-8 becomes U+FFFD, and so does NUL, which JSON readers may refuse (ours does). */
void buf_json(struct buf *b, const char *s, size_t len);

/* "" when empty, never NULL. */
const char *buf_cstr(const struct buf *b);
/* Writes all of it and clears it; false when the file or the buf failed. */
bool buf_flush(struct buf *b, FILE *f);

#define WHY_SIZE 400

struct why {
	char text[WHY_SIZE]; /* one sentence or part of one, without a line end; "": none was given */
};

/* Replaces the reason; one that is too long ends in "...". Returns false, for `return why_set(...)`. */
bool why_set(struct why *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
