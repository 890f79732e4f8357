#include "explore/seqtab.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

void seqtab_init(struct seqtab *t)
{
	memset(t, 0, sizeof *t);
}

void seqtab_free(struct seqtab *t)
{
	free(t->pool);
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

/* The slot where v is or would be. */
static uint32_t locate(const struct seqtab *t, const int32_t *v, uint32_t len)
{
	assert(t->nslots && !(t->nslots & (t->nslots - 1)) && t->n < t->nslots);
	uint32_t mask = t->nslots - 1, i = hash(v, len) & mask, n;
	for (; t->slots[i]; i = (i + 1) & mask) {
		const int32_t *w = seqtab_get(t, t->slots[i] - 1, &n);
		if (n == len && (!n || !memcmp(w, v, n * sizeof *v)))
			break;
	}
	return i;
}

static bool grow_slots(struct seqtab *t)
{
	uint32_t n = t->nslots ? t->nslots * 2 : 64, len;
	uint32_t *s = n ? calloc(n, sizeof *s) : NULL;
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

static bool make_room(struct seqtab *t, uint32_t len)
{
	if (t->npool + len > t->cap_pool) {
		uint64_t cap = t->cap_pool ? t->cap_pool : 256;
		while (cap < t->npool + len)
			cap *= 2;
		int32_t *p = realloc(t->pool, cap * sizeof *p);
		if (!p)
			return false;
		t->pool = p;
		t->cap_pool = cap;
	}
	if (t->n + 2 > t->cap) {
		uint32_t cap = t->cap ? t->cap * 2 : 64;
		uint64_t *p = t->cap > 1u << 30 ? NULL : realloc(t->start, cap * sizeof *p);
		if (!p)
			return false;
		t->start = p;
		t->cap = cap;
	}
	assert(t->npool + len <= t->cap_pool && t->n + 2 <= t->cap);
	return true;
}

uint32_t seqtab_add(struct seqtab *t, const int32_t *v, uint32_t len)
{
	assert(!len || v < t->pool || v >= t->pool + t->npool); /* not of the table itself */
	if (t->n + t->n / 2 >= t->nslots && !grow_slots(t))
		return SEQTAB_NONE;
	uint32_t i = locate(t, v, len);
	if (t->slots[i])
		return t->slots[i] - 1;
	if (!make_room(t, len))
		return SEQTAB_NONE;
	if (len)
		memcpy(t->pool + t->npool, v, len * sizeof *v);
	if (!t->n)
		t->start[0] = 0;
	t->npool += len;
	t->start[t->n + 1] = t->npool;
	assert(t->start[t->n] + len == t->npool);
	t->slots[i] = ++t->n;
	return t->n - 1;
}

uint64_t seqtab_bytes(const struct seqtab *t)
{
	return t->cap_pool * 4 + (uint64_t)t->cap * 8 + (uint64_t)t->nslots * 4;
}
