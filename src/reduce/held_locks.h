/*
 * held_locks: sets of locks, interned to 32-bit ids. A lock is named by its
 * place in the globals.
 *
 * Representation: a set is a strictly increasing run in `elems`; equal sets
 * have equal ids; id 0 is the empty set. Everything is owned by the arena.
 *
 * A set has at most HELD_LOCKS_MAX members: a lock that does not fit is left
 * out, which is sound, since these are locks that are *certainly* held.
 * Cost: linear in the sets, which are a handful of locks, plus one look-up.
 */
#ifndef INTACT_REDUCE_HELD_LOCKS_H
#define INTACT_REDUCE_HELD_LOCKS_H

#include <stdbool.h>

#include "base/arena.h"

enum { HELD_LOCKS_MAX = 64 };
#define HELD_LOCKS_NONE 0u

struct held_locks_run {
	uint32_t start, len;
	uint32_t next; /* of the same hash bucket, plus one */
};

struct held_locks {
	struct arena *arena;
	AVEC(struct held_locks_run) sets;
	AVEC(uint32_t) elems;
	uint32_t *buckets; /* set + 1; 0 = none */
	uint32_t nbuckets;
};

void held_locks_init(struct held_locks *s, struct arena *a);
uint32_t held_locks_add(struct held_locks *s, uint32_t set, uint32_t lock);
/* Without the locks first .. first + n - 1. */
uint32_t held_locks_remove(struct held_locks *s, uint32_t set, uint32_t first, uint32_t n);
uint32_t held_locks_meet(struct held_locks *s, uint32_t a, uint32_t b);
bool held_locks_has(const struct held_locks *s, uint32_t set, uint32_t lock);
bool held_locks_disjoint(const struct held_locks *s, uint32_t a, uint32_t b);
/* The members, in order; their number in *n. */
const uint32_t *held_locks_members(const struct held_locks *s, uint32_t set, uint32_t *n);

#endif
