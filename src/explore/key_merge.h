/*
 * key_merge: sorted sequences of keys become one, without those that are in other sequences; and the sorting of keys of
 * which there are more than fit into memory.
 *
 * The merge goes from window to window: of each source the keys up to the smallest of the last keys of their present blocks,
 * which are sorted again (few bits differ in a window) and passed along each of the sequences of what is known. So
 * each key that is known is decoded once, unless its block has nothing in common with a window.
 *
 * Keys may have words below those that are compared (`low`): of equal keys the one with the smallest is kept.
 */
#ifndef INTACT_EXPLORE_KEY_MERGE_H
#define INTACT_EXPLORE_KEY_MERGE_H

#include "explore/key_run.h"

/* Distinct keys, in order. False: stop. */
typedef bool key_each(void *arg, const uint64_t *keys, uint64_t n);

struct key_merge {
	struct scratch *s;
	uint32_t words, low; /* of a key of the sources; those of `known` have words - low */
	struct key_reader *source, *known;
	uint32_t nsources, nknown;
	key_each *each;
	void *arg;
	bool (*stopping)(void *arg); /* or NULL; asked now and then: true ends the merge */
	void *stop_arg;
	uint64_t bytes; /* of memory, while it ran */
};

/* True when all was given to `each`; false: trouble, or it was stopped. The readers stay the caller's. */
bool key_merge(struct key_merge *m);

struct key_sorter {
	struct scratch *s;
	const struct key_layout *layout;
	uint32_t words, low;
	uint64_t *keys, *room;
	uint64_t n, cap; /* keys */
	struct key_run *runs;
	uint32_t nruns, cap_runs;
	bool sorted; /* key_sorter_sort was called */
};

/* Room for `cap` keys; false when out of memory. */
bool key_sorter_init(struct key_sorter *t, struct scratch *s, const struct key_layout *layout, uint64_t cap);
void key_sorter_free(struct key_sorter *t);
/* There are no keys. */
void key_sorter_clear(struct key_sorter *t);
/* What is in memory becomes a run. */
bool key_sorter_spill(struct key_sorter *t);
static inline bool key_sorter_put(struct key_sorter *t, const uint64_t *key)
{
	assert(!t->sorted);
	if (t->n == t->cap && !key_sorter_spill(t))
		return false;
	uint64_t *to = t->keys + t->n++ * t->words;
	for (uint32_t i = 0; i < t->words; i++)
		to[i] = key[i];
	return true;
}
/* Sorts what is in memory, and reduces the runs to a few. */
bool key_sorter_sort(struct key_sorter *t);
/* Readers of all there is, nruns + 1 of them, in this layout. False: none is open. */
bool key_sorter_read(struct key_sorter *t, struct key_reader *r, const struct key_layout *as);
uint64_t key_sorter_bytes(const struct key_sorter *t);

/* Sorts n keys of so many words; the result is in `keys` or in `room`, which is returned. */
uint64_t *key_sort(uint64_t *keys, uint64_t *room, uint64_t n, uint32_t words);

#endif
