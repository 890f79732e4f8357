/*
 * lockset: sets of locks, interned to 32-bit ids (Eraser; Atomizer 2.1).
 *
 * Representation: a set is a sorted run of lock ids in `elems`; `sets` says
 * where it starts and how long it is; a hash table finds the id of a set, so
 * that equal sets have equal ids and comparing is one instruction. Id 0 is
 * the empty set. Nothing is ever removed. The hash table has levels, each
 * four times the one before: what a program needs stays in few pages.
 *
 * Invariants: runs are strictly increasing; a set is complete before its id
 * is published, so readers take no lock; writers hold `lock`.
 *
 * When a table is full `full` is set and operations return their first
 * operand: the analysis must then stop calling anything unprotected.
 *
 * Cost: adding, removing and intersecting are linear in the sets plus one
 * look-up; callers keep a small cache in front (struct lockset_cache).
 */
#ifndef INTACT_DYNAMIC_LOCKSET_H
#define INTACT_DYNAMIC_LOCKSET_H

#include <stdbool.h>
#include <stdint.h>

#include "dynamic/pages.h"

enum { LOCKSET_EMPTY = 0, LOCKSET_MAX = 256, LOCKSET_LEVELS = 5 };

struct lockset_run {
	uint32_t start, len, hash;
};

struct lockset_table {
	struct lockset_run *sets;
	uint32_t *elems;
	uint32_t *slots[LOCKSET_LEVELS], level;
	uint32_t nsets, nelems;
	struct spin lock;
	bool full;
};

/* One thread's recent answers: (operation, a, b) -> result, direct-mapped. */
enum { LOCKSET_CACHE_BITS = 10 };

struct lockset_cache {
	struct {
		uint64_t key;
		uint32_t value;
	} line[1 << LOCKSET_CACHE_BITS];
};

/* False when memory cannot be had. */
bool lockset_init(struct lockset_table *t);
void lockset_free(struct lockset_table *t);

/* The set with `lock` added or removed; the common part of two. The cache
 * may be NULL. */
uint32_t lockset_add(struct lockset_table *t, struct lockset_cache *c, uint32_t set, uint32_t lock);
uint32_t lockset_remove(struct lockset_table *t, struct lockset_cache *c, uint32_t set, uint32_t lock);
uint32_t lockset_meet(struct lockset_table *t, struct lockset_cache *c, uint32_t a, uint32_t b);
bool lockset_has(const struct lockset_table *t, uint32_t set, uint32_t lock);
/* The members, sorted; `*len` of them. Owned by the table. */
const uint32_t *lockset_members(const struct lockset_table *t, uint32_t set, uint32_t *len);

#endif
