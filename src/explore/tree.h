/*
 * tree: 64-bit values interned to 32-bit ids, for the tree compression of
 * wide states; any number of threads may intern at once.
 *
 * A state's packed words are the leaves; a node is the pair of its children's
 * ids, a 64-bit value like a leaf, interned in the same table. The two ids
 * left at the top are the root, which the store keeps.
 *
 * Values lie by id in an array that does not move. The hash table holds (tag,
 * id) in one word, taken by compare-and-swap; the tag is the other half of
 * the hash, so that a value is looked at only when it very likely is the one.
 * Ids begin at 1. Two threads that intern one value at the same time may lose
 * an id to a hole; no thread sees it.
 */
#ifndef INTACT_EXPLORE_TREE_H
#define INTACT_EXPLORE_TREE_H

#include "base/invariant.h"
#include "explore/stable_array.h"

struct tree {
	struct stable_array values; /* uint64_t by id */
	uint64_t *table;            /* tag << 32 | id; 0 free */
	uint64_t cap;               /* a power of two; 0: not in use */
	uint64_t n, full;           /* ids given out, when to grow */
};

bool tree_init(struct tree *t);
void tree_free(struct tree *t);
/* For one thread while no other uses it; false when out of memory. */
bool tree_grow(struct tree *t);
uint64_t tree_bytes(const struct tree *t);

static inline uint64_t tree_value(const struct tree *t, uint32_t id)
{
	assert(id); /* ids begin at 1 */
	return *(uint64_t *)stable_array_at(&t->values, id);
}
static inline bool tree_crowded(const struct tree *t)
{
	return t->cap && __atomic_load_n(&t->n, __ATOMIC_RELAXED) >= t->full;
}

/* How many ids tree_root needs room for. */
static inline uint32_t tree_room(uint32_t nwords)
{
	return 2 * nwords + 64;
}
/*
 * The root of the words (two at least). `ids` is room for the ids of all
 * nodes, level by level; when `old` and `old_words` are given, they are those
 * of a state that probably has most in common. 0: there is no room.
 */
uint64_t tree_root(struct tree *t, const uint64_t *words, uint32_t nwords, uint32_t *ids, const uint64_t *old_words,
                   const uint32_t *old);
/* The words of a root, and the ids of all nodes. */
void tree_words(const struct tree *t, uint64_t root, uint32_t nwords, uint64_t *words, uint32_t *ids);

#endif
