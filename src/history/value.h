/*
 * value: what operations carry, as 32-bit ids.
 *
 * Representation: small whole numbers (30 bits and a sign) are their own id,
 * so that a history of a million integers touches no table; everything else
 * (big numbers, strings, keywords, lists, sets) is interned once in an arena
 * and found by hash. Two values are equal iff their ids are. nil, false and
 * true have fixed ids.
 */
#ifndef INTACT_HISTORY_VALUE_H
#define INTACT_HISTORY_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/idtab.h"

typedef uint32_t val;

#define VAL_NIL   0u
#define VAL_FALSE 1u
#define VAL_TRUE  2u
#define VAL_INT   0x80000000u /* the bit that marks a small number */
#define VAL_BIAS  0x40000000

enum value_kind { VK_NIL, VK_BOOL, VK_INT, VK_NUM, VK_STR, VK_WORD, VK_LIST, VK_SET };

struct value {
	uint8_t kind; /* enum value_kind */
	uint32_t len; /* bytes of text, or elements */
	uint32_t hash;
	union {
		const char *text; /* VK_NUM, VK_STR, VK_WORD; NUL-terminated */
		const val *elems; /* VK_LIST, VK_SET (ascending ids, no twins) */
		int64_t num;      /* VK_INT outside the inline range */
	};
};

struct values {
	struct arena *arena;
	AVEC(struct value) tab;
	struct idtab ids;
};

void values_init(struct values *vs, struct arena *a);
void values_free(struct values *vs); /* the table; the rest is the arena's */

static inline bool val_is_small(val v)
{
	return (v & VAL_INT) != 0;
}
static inline int32_t val_small(val v)
{
	return (int32_t)(v & 0x7FFFFFFFu) - VAL_BIAS;
}
val val_int_big(struct values *vs, int64_t n);
static inline val val_int(struct values *vs, int64_t n)
{
	if (n >= -VAL_BIAS && n < VAL_BIAS)
		return VAL_INT | (uint32_t)(n + VAL_BIAS);
	return val_int_big(vs, n);
}
static inline val val_bool(bool b)
{
	return b ? VAL_TRUE : VAL_FALSE;
}
/* Text of a kind: VK_NUM, VK_STR or VK_WORD. */
val val_text(struct values *vs, enum value_kind kind, const char *s, size_t len);
/* A list, or a set (sorted and made unique here). */
val val_list(struct values *vs, enum value_kind kind, const val *elems, uint32_t n);

enum value_kind val_kind(const struct values *vs, val v);
/* True and *n when v is a whole number. */
bool val_get_int(const struct values *vs, val v, int64_t *n);
/* The elements of a list or set; *n = 0 and NULL for anything else. */
const val *val_elems(const struct values *vs, val v, uint32_t *n);
/* Numbers by size, before everything else, which goes by text. */
int val_compare(const struct values *vs, val a, val b);

/* As a person writes it (3, "x", nil, [1 2]), the middle of long ones left out
 * ([1 2 3 ... 9]) or not; as JSON; as EDN. */
void val_print(const struct values *vs, val v, struct buf *out);
void val_print_whole(const struct values *vs, val v, struct buf *out);
void val_json(const struct values *vs, val v, struct buf *out);
void val_edn(const struct values *vs, val v, struct buf *out);

#endif
