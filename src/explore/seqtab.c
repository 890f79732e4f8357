#include "explore/seqtab.h"

#include <stdlib.h>
#include <string.h>

void seqtab_init(struct seqtab *t)
{
	memset(t, 0, sizeof *t);
}

void seqtab_free(struct seqtab *t)
{
	free(t->words);
	free(t->start);
	free(t->slots);
	seqtab_init(t);
}

static uint32_t hash(const int32_t *v, uint32_t n)
{
	uint64_t h = n;
	for (uint32_t i = 0; i < n; i++)
		h = (h ^ (uint32_t)v[i]) * 0x9E3779B97F4A7C15u, h ^= h >> 29;
	return (uint32_t)(h ^ h >> 32);
}

static bool grow_slots(struct seqtab *t)
{
	uint32_t n = t->nslots ? t->nslots * 2 : 64, len;
	uint32_t *s = n > t->nslots ? calloc(n, sizeof *s) : NULL;
	if (!s)
		return false;
	free(t->slots);
	t->slots = s;
	t->nslots = n;
	for (uint32_t id = 0; id < t->n; id++) {
		const int32_t *v = seqtab_get(t, id, &len);
		uint32_t i = hash(v, len) & (n - 1);
		while (s[i])
			i = (i + 1) & (n - 1);
		s[i] = id + 1;
	}
	return true;
}

/* Room for one more sequence of that length. */
static bool grow(struct seqtab *t, uint32_t len)
{
	if (t->n + 1 >= t->cap) {
		uint32_t cap = t->cap ? t->cap * 2 : 64;
		uint64_t *p = cap > t->cap ? realloc(t->start, cap * sizeof *p) : NULL;
		if (!p)
			return false;
		if (!t->cap)
			p[0] = 0;
		t->start = p;
		t->cap = cap;
	}
	if (t->nwords + len > t->cap_words) {
		uint64_t cap = t->cap_words ? t->cap_words * 2 : 256;
		while (cap < t->nwords + len)
			cap *= 2;
		int32_t *p = realloc(t->words, cap * sizeof *p);
		if (!p)
			return false;
		t->words = p;
		t->cap_words = cap;
	}
	return true;
}

uint32_t seqtab_add(struct seqtab *t, const int32_t *v, uint32_t len)
{
	uint32_t had;
	if (t->n + t->n / 2 >= t->nslots && !grow_slots(t))
		return SEQTAB_NONE;
	uint32_t mask = t->nslots - 1, i = hash(v, len) & mask;
	for (; t->slots[i]; i = (i + 1) & mask) {
		const int32_t *w = seqtab_get(t, t->slots[i] - 1, &had);
		if (had == len && (!len || !memcmp(w, v, len * sizeof *v)))
			return t->slots[i] - 1;
	}
	if (!grow(t, len))
		return SEQTAB_NONE;
	if (len)
		memcpy(t->words + t->nwords, v, len * sizeof *v);
	t->nwords += len;
	t->start[t->n + 1] = t->nwords;
	t->slots[i] = ++t->n;
	return t->n - 1;
}

uint64_t seqtab_bytes(const struct seqtab *t)
{
	return t->cap_words * 4 + (uint64_t)t->cap * 8 + (uint64_t)t->nslots * 4;
}
