#include "explore/tree.h"

#include <string.h>

#include "base/invariant.h"
#include "base/map.h"

#define TREE_FIRST_CAP 4096u

bool tree_init(struct tree *t)
{
	memset(t, 0, sizeof *t);
	stable_array_init(&t->values, sizeof(uint64_t));
	t->n = 1;
	return tree_grow(t);
}

void tree_free(struct tree *t)
{
	stable_array_free(&t->values);
	free(t->table);
	memset(t, 0, sizeof *t);
}

uint64_t tree_bytes(const struct tree *t)
{
	return stable_array_bytes(&t->values) + t->cap * sizeof *t->table;
}

bool tree_grow(struct tree *t)
{
	uint64_t cap = t->cap ? t->cap * 2 : TREE_FIRST_CAP;
	if (cap > (uint64_t)1 << 33 || !stable_array_reserve(&t->values, cap / 4 * 3 + cap / 8))
		return false;
	uint64_t *table = calloc(cap, sizeof *table);
	if (!table)
		return false;
	for (uint64_t i = 0; i < t->cap; i++) {
		uint64_t v = t->table[i];
		if (!v)
			continue;
		uint64_t at = hash64(tree_value(t, (uint32_t)v)) & (cap - 1);
		while (table[at])
			at = (at + 1) & (cap - 1);
		table[at] = v;
	}
	free(t->table);
	t->table = table;
	t->cap = cap;
	t->full = cap / 4 * 3;
	assert(!(cap & (cap - 1)));
	return true;
}

/* The id of a value; 0: there is no room, grow first. */
static uint32_t tree_intern(struct tree *t, uint64_t value)
{
	uint64_t hash = hash64(value), tag = hash >> 32 << 32, mask = t->cap - 1;
	uint32_t mine = 0;
	for (uint64_t i = hash & mask;; i = (i + 1) & mask) {
		uint64_t seen = __atomic_load_n(&t->table[i], __ATOMIC_ACQUIRE);
		if (!seen) {
			if (!mine) {
				uint64_t id = __atomic_fetch_add(&t->n, 1, __ATOMIC_RELAXED);
				if (id >= t->full + t->cap / 8 || id >= UINT32_MAX)
					return 0;
				assert(id);
				mine = (uint32_t)id;
				*(uint64_t *)stable_array_at(&t->values, mine) = value;
			}
			if (__atomic_compare_exchange_n(&t->table[i], &seen, tag | mine, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
				return mine;
		}
		if (seen >> 32 << 32 == tag && tree_value(t, (uint32_t)seen) == value)
			return (uint32_t)seen;
	}
}

uint64_t tree_root(struct tree *t, const uint64_t *words, uint32_t nwords, uint32_t *ids, const uint64_t *old_words,
                   const uint32_t *old)
{
	assert(nwords >= 2 && !old == !old_words);
	for (uint32_t i = 0; i < nwords; i++) {
		ids[i] = old && old_words[i] == words[i] ? old[i] : tree_intern(t, words[i]);
		if (!ids[i])
			return 0;
	}
	uint32_t from = 0, n = nwords;
	while (n > 2) {
		uint32_t to = from + n;
		for (uint32_t i = 0; i < n / 2; i++) {
			uint32_t a = from + 2 * i, b = a + 1;
			ids[to + i] = old && old[a] == ids[a] && old[b] == ids[b] ? old[to + i]
			                                                          : tree_intern(t, (uint64_t)ids[a] << 32 | ids[b]);
			if (!ids[to + i])
				return 0;
		}
		if (n % 2)
			ids[to + n / 2] = ids[from + n - 1];
		from = to;
		n = n / 2 + n % 2;
	}
	assert(n == 2 && from + 2 <= tree_room(nwords));
	return (uint64_t)ids[from] << 32 | ids[from + 1];
}

void tree_words(const struct tree *t, uint64_t root, uint32_t nwords, uint64_t *words, uint32_t *ids)
{
	assert(nwords >= 2 && root >> 32 && (uint32_t)root);
	uint32_t start[34], size[34], depth = 0;
	start[0] = 0;
	size[0] = nwords;
	while (size[depth] > 2) {
		start[depth + 1] = start[depth] + size[depth];
		size[depth + 1] = size[depth] / 2 + size[depth] % 2;
		depth++;
	}
	assert(depth < 33 && size[depth] == 2 && start[depth] + 2 <= tree_room(nwords));
	ids[start[depth]] = (uint32_t)(root >> 32);
	ids[start[depth] + 1] = (uint32_t)root;
	for (; depth; depth--) {
		uint32_t below = start[depth - 1], n = size[depth - 1];
		for (uint32_t i = 0; i < n / 2; i++) {
			uint64_t pair = tree_value(t, ids[start[depth] + i]);
			ids[below + 2 * i] = (uint32_t)(pair >> 32);
			ids[below + 2 * i + 1] = (uint32_t)pair;
		}
		if (n % 2)
			ids[below + n - 1] = ids[start[depth] + n / 2];
	}
	for (uint32_t i = 0; i < nwords; i++)
		words[i] = tree_value(t, ids[i]);
}
