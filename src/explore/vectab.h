/*
 * vectab: vectors of 32-bit values to dense ids and back.
 *
 * All vectors of a table have the same width. They lie one after the other in
 * one array; the hash table holds ids. Grows by doubling, never shrinks; an
 * id is always valid, a pointer until the next insertion.
 */
#ifndef INTACT_EXPLORE_VECTAB_H
#define INTACT_EXPLORE_VECTAB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/idtab.h"

#define VECTAB_NONE UINT32_MAX

struct vectab {
	uint32_t width;
	uint32_t n, cap;
	int32_t *data;
	struct idtab ids;
};

void vectab_init(struct vectab *t, uint32_t width);
void vectab_free(struct vectab *t);
/* The id of v, new or old; VECTAB_NONE when out of memory. */
uint32_t vectab_add(struct vectab *t, const int32_t *v);
static inline const int32_t *vectab_get(const struct vectab *t, uint32_t id)
{
	assert(id < t->n);
	return t->data + (uint64_t)id * t->width;
}
uint64_t vectab_bytes(const struct vectab *t);

#endif
