/*
 * idtab: finds the id of something by its content. The one open-addressing table of ids; map.h is the one of keys that
 * are numbers.
 *
 * Representation: a power of two of slots with id + 1, 0 free, linear probing, at most two thirds full. What the ids
 * stand for is the owner's: it says whether the thing with an id is the one that is looked for, and what its hash is.
 * Both functions are inlined where they are named, so a table costs what one written by hand does. Nothing is removed.
 *
 * Not made of it, each with the reason at its head: tables that threads share without locks (explore/tree, store,
 * product; sched and the runtime have no malloc either), event/names (the hash beside the id saves a miss in tables of
 * millions), and the lists by hash of lin (dfs_memory, online, queue_pairs), which look for an entry that covers
 * another, not for an equal one.
 */
#ifndef INTACT_BASE_IDTAB_H
#define INTACT_BASE_IDTAB_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/invariant.h"

struct idtab {
	uint32_t *slots, nslots;
};

#define IDTAB_INLINE static inline __attribute__((always_inline))

/* The slot where it is, or the free one where it would be; there must be slots. */
IDTAB_INLINE uint32_t *idtab_at(const struct idtab *t, uint32_t hash, bool (*same)(const void *ctx, uint32_t id), const void *ctx)
{
	uint32_t mask = t->nslots - 1, i = hash & mask;
	while (t->slots[i] && !same(ctx, t->slots[i] - 1))
		i = (i + 1) & mask;
	return &t->slots[i];
}

/* Is there no room for one more than n? */
static inline bool idtab_full(const struct idtab *t, uint32_t n)
{
	return n + n / 2 >= t->nslots;
}

/* Twice as many slots as there are, as many as a new table has when there are none; 0 when that is too many. */
static inline uint32_t idtab_more(const struct idtab *t)
{
	return t->nslots ? t->nslots * 2 : 64;
}

/* Puts an id that is not there into slots. */
static inline void idtab_put(uint32_t *slots, uint32_t nslots, uint32_t hash, uint32_t id)
{
	uint32_t i = hash & (nslots - 1);
	while (slots[i])
		i = (i + 1) & (nslots - 1);
	slots[i] = id + 1;
}

/* Puts the ids from first to below n into new slots, all 0; returns the old ones. */
IDTAB_INLINE uint32_t *idtab_move(struct idtab *t, uint32_t *slots, uint32_t nslots, uint32_t first, uint32_t n,
                                  uint32_t (*hash)(const void *ctx, uint32_t id), const void *ctx)
{
	assert(nslots && !(nslots & (nslots - 1)) && nslots > n);
	uint32_t *old = t->slots;
	for (uint32_t id = first; id < n; id++)
		idtab_put(slots, nslots, hash(ctx, id), id);
	t->slots = slots;
	t->nslots = nslots;
	return old;
}

/* Room for one more than n, from malloc; false when out of memory. */
IDTAB_INLINE bool idtab_room(struct idtab *t, uint32_t n, uint32_t (*hash)(const void *ctx, uint32_t id), const void *ctx)
{
	if (!idtab_full(t, n))
		return true;
	uint32_t nslots = idtab_more(t), *slots = nslots ? calloc(nslots, sizeof *slots) : NULL;
	if (slots)
		free(idtab_move(t, slots, nslots, 0, n, hash, ctx));
	return slots != NULL;
}

#endif
