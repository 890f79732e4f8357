/*
 * intern: strings to dense 32-bit ids and back.
 *
 * Representation: the strings live in the caller's arena, the table is open
 * addressing over ids with the hash kept beside, so a look-up compares bytes
 * about once. Id 0 is the empty string.
 */
#ifndef INTACT_BASE_INTERN_H
#define INTACT_BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/idtab.h"

struct interned {
	const char *str; /* NUL-terminated */
	uint32_t len;
	uint32_t hash;
};

struct intern {
	struct arena *arena;
	AVEC(struct interned) strs;
	struct idtab ids;
};

void intern_init(struct intern *in, struct arena *a);
uint32_t intern_add(struct intern *in, const char *s, size_t len);
static inline const char *intern_str(const struct intern *in, uint32_t id)
{
	assert(id < in->strs.len);
	return in->strs.data[id].str;
}
static inline uint32_t intern_len(const struct intern *in, uint32_t id)
{
	assert(id < in->strs.len);
	return in->strs.data[id].len;
}

#endif
