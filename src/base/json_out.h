/*
 * json_out: writes JSON into a buf.
 *
 * A value inside an object is written with its key, inside an array (or at the
 * top) with a NULL key. Commas, quotes and escapes are the writer's work, so
 * what it writes is JSON as long as each container is closed; misuse (a key in
 * an array, a missing one in an object, more depth than JSON_OUT_DEPTH, an end
 * without a beginning) is asserted.
 *
 * Layout: everything stays on one line, with a blank after commas and colons
 * (`{"a": 1, "b": [2, 3]}`) or without (compact), unless json_line asks for a
 * line break before the next key, value or end.
 *
 * Costs a few instructions a token besides the bytes; no memory of its own.
 */
#ifndef INTACT_BASE_JSON_OUT_H
#define INTACT_BASE_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum { JSON_OUT_DEPTH = 32 };

struct json_out {
	struct buf *out;
	bool compact;
	unsigned depth;    /* open containers */
	uint32_t arrays;   /* bit i: container i is an array */
	uint64_t nonempty; /* bit i: something is in container i; bit 0 is the top */
	int line;          /* blanks behind the line break that is due, -1: none is */
};

/* What is written before the first value stays as it is. Several values at the
 * top are separated by commas: a part of an array, for json_items. */
void json_out_init(struct json_out *j, struct buf *out, bool compact);
/* Asserts that every container is closed. */
void json_out_end(const struct json_out *j);

/* The next key, value or end stands on a new line, behind `indent` blanks. */
void json_line(struct json_out *j, unsigned indent);

void json_begin_object(struct json_out *j, const char *key);
void json_begin_array(struct json_out *j, const char *key);
/* Closes the container opened last. */
void json_end(struct json_out *j);

/* Text: invalid UTF-8 becomes U+FFFD. */
void json_text(struct json_out *j, const char *key, const char *s);
void json_text_n(struct json_out *j, const char *key, const char *s, size_t len);
void json_text_buf(struct json_out *j, const char *key, const struct buf *s);
/* The text, or null when there is none. */
void json_text_or_null(struct json_out *j, const char *key, const char *s);
void json_int(struct json_out *j, const char *key, int64_t n);
/* Beyond INT64_MAX, which readers of JSON may refuse (ours does): INT64_MAX. Only damaged input has such numbers. */
void json_uint(struct json_out *j, const char *key, uint64_t n);
void json_bool(struct json_out *j, const char *key, bool v);
void json_nothing(struct json_out *j, const char *key); /* null */
/* Members that are there only when they say something. */
void json_text_if(struct json_out *j, const char *key, const char *s); /* not NULL */
void json_flag(struct json_out *j, const char *key, bool v);           /* true */

/* Where the caller writes one value itself, and nothing else: a number, or what
 * another writer makes. */
struct buf *json_value(struct json_out *j, const char *key);
/* Values that are written already, with the commas between them; none is fine. */
void json_items(struct json_out *j, const struct buf *items);

#endif
