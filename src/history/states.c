/*
 * states: interned vectors of words. All words are in one array, the starts of
 * the vectors in another; an open hash table (linear probing, at most three
 * quarters full) finds a vector by its content. Ids are dense, in the order of
 * their making; nothing is ever removed. Cost: O(length) a lookup.
 */
#include <string.h>

#include "history/spec.h"

static uint32_t hash_words(const uint32_t *w, uint32_t n)
{
	uint64_t h = n;
	for (uint32_t i = 0; i < n; i++) {
		h = (h ^ w[i]) * 0xD6E8FEB86659FD93u;
		h ^= h >> 29;
	}
	return (uint32_t)hash64(h);
}

static bool states_grow(struct spec_ctx *c, uint32_t len)
{
	struct states *t = &c->st;
	if (t->nwords + len > t->cwords) {
		size_t cap = (t->cwords + len) * 2 + 64;
		uint32_t *w = lim_realloc(c->lim, t->words, t->cwords * 4, cap * 4);
		if (!w)
			return false;
		t->words = w;
		t->cwords = cap;
	}
	if (t->n + 2 > t->cap) {
		uint32_t cap = t->cap ? t->cap * 2 : 64;
		size_t *s = lim_realloc(c->lim, t->start, t->cap * sizeof *s, cap * sizeof *s);
		if (!s)
			return false;
		if (!t->cap)
			s[0] = 0;
		t->start = s;
		t->cap = cap;
	}
	if ((size_t)t->n * 4 >= (size_t)t->nslots * 3) {
		uint32_t m = t->nslots ? t->nslots * 2 : 128;
		uint32_t *s = lim_realloc(c->lim, NULL, 0, m * 4ull);
		if (!s)
			return false;
		memset(s, 0, m * 4ull);
		for (uint32_t i = 0; i < t->n; i++) {
			uint32_t h = hash_words(states_at(c, i), states_len(c, i)) & (m - 1);
			while (s[h])
				h = (h + 1) & (m - 1);
			s[h] = i + 1;
		}
		lim_free(c->lim, t->slots, t->nslots * 4ull);
		t->slots = s;
		t->nslots = m;
	}
	return true;
}

uint32_t states_intern(struct spec_ctx *c, const uint32_t *w, uint32_t len)
{
	struct states *t = &c->st;
	if (!states_grow(c, len)) {
		c->failed = true;
		return 0;
	}
	uint32_t h = hash_words(w, len) & (t->nslots - 1);
	for (; t->slots[h]; h = (h + 1) & (t->nslots - 1)) {
		uint32_t id = t->slots[h] - 1;
		if (states_len(c, id) == len && (!len || !memcmp(states_at(c, id), w, len * 4ull)))
			return id;
	}
	if (len)
		memcpy(t->words + t->nwords, w, len * 4ull);
	t->nwords += len;
	t->start[++t->n] = t->nwords;
	t->slots[h] = t->n;
	return t->n - 1;
}
