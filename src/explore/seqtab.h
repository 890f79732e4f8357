/*
 * seqtab: sequences of 32-bit values of any length, interned to small ids.
 *
 * One pool of values, the sequences one after the other; an open-addressing
 * index of ids. Ids count from 0 and never change; pointers into the pool are
 * good until the next seqtab_add. Nothing is removed.
 */
#ifndef INTACT_EXPLORE_SEQTAB_H
#define INTACT_EXPLORE_SEQTAB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/invariant.h"

#define SEQTAB_NONE UINT32_MAX

struct seqtab {
	int32_t *pool;
	uint64_t npool, cap_pool;
	uint64_t *start; /* id -> its first value; start[n] ends the last one */
	uint32_t n, cap;
	uint32_t *slots; /* id + 1; 0 free */
	uint32_t nslots;
};

void seqtab_init(struct seqtab *t);
void seqtab_free(struct seqtab *t);
/* The id of the sequence, new or old; SEQTAB_NONE when memory ends. `v` must
 * not point into the table. */
uint32_t seqtab_add(struct seqtab *t, const int32_t *v, uint32_t len);
static inline const int32_t *seqtab_get(const struct seqtab *t, uint32_t id, uint32_t *len)
{
	assert(id < t->n && t->start[id] <= t->start[id + 1] && t->start[id + 1] <= t->npool);
	*len = (uint32_t)(t->start[id + 1] - t->start[id]);
	return t->pool + t->start[id];
}
uint64_t seqtab_bytes(const struct seqtab *t);

#endif
