/*
 * seqtab: sequences of 32-bit values of any length, interned to small ids.
 *
 * One pool of values, the sequences one after the other; an index of ids (idtab.h). Ids count from 0 and never
 * change; pointers into the pool are good until the next seqtab_add. Nothing is removed. All zeroes is an empty table.
 */
#ifndef INTACT_BASE_SEQTAB_H
#define INTACT_BASE_SEQTAB_H

#include <stddef.h>

#include "base/idtab.h"

#define SEQTAB_NONE UINT32_MAX

struct seqtab {
	int32_t *pool;
	uint64_t npool, cap_pool;
	uint64_t *start; /* id -> its first value; start[n] ends the last one */
	uint32_t n;
	uint64_t cap;
	struct idtab ids;
	/* Where memory comes from: like realloc with both sizes, now 0 frees; NULL: malloc. */
	void *(*memory)(void *arg, void *p, size_t old, size_t now);
	void *arg;
};

void seqtab_init(struct seqtab *t);
void seqtab_free(struct seqtab *t);
/* The id of the sequence, new or old; SEQTAB_NONE when out of memory. `v` must
 * not point into the table. */
uint32_t seqtab_add(struct seqtab *t, const int32_t *v, uint32_t len);
/* SEQTAB_NONE when it is not there. */
uint32_t seqtab_find(const struct seqtab *t, const int32_t *v, uint32_t len);
static inline const int32_t *seqtab_get(const struct seqtab *t, uint32_t id, uint32_t *len)
{
	assert(id < t->n && t->start[id] <= t->start[id + 1] && t->start[id + 1] <= t->npool);
	*len = (uint32_t)(t->start[id + 1] - t->start[id]);
	return t->pool + t->start[id];
}
uint64_t seqtab_bytes(const struct seqtab *t);

/* Of n values, for tables of such. */
static inline uint32_t seqtab_hash(const int32_t *v, uint32_t n)
{
	uint64_t h = n;
	for (uint32_t i = 0; i < n; i++)
		h = (h ^ (uint32_t)v[i]) * 0x9E3779B97F4A7C15u, h ^= h >> 29;
	return (uint32_t)(h ^ h >> 32);
}

#endif
