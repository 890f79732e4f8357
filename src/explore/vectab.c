#include "explore/vectab.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/map.h"

void vectab_init(struct vectab *t, uint32_t width)
{
	memset(t, 0, sizeof *t);
	t->width = width;
}

void vectab_free(struct vectab *t)
{
	assert(t->n <= t->cap && t->n <= t->nslots);
	free(t->data);
	free(t->slots);
	vectab_init(t, t->width);
}

static uint32_t hash(const int32_t *v, uint32_t n)
{
	uint64_t h = n;
	for (uint32_t i = 0; i < n; i++)
		h = (h ^ (uint32_t)v[i]) * 0x9E3779B97F4A7C15u, h ^= h >> 29;
	return (uint32_t)(h ^ h >> 32);
}

/* The slot where v is or would be. */
static uint32_t locate(const struct vectab *t, const int32_t *v)
{
	assert(t->nslots && !(t->nslots & (t->nslots - 1)) && t->n < t->nslots);
	uint32_t mask = t->nslots - 1, i = hash(v, t->width) & mask;
	for (; t->slots[i]; i = (i + 1) & mask)
		if (!memcmp(vectab_get(t, t->slots[i] - 1), v, t->width * sizeof *v))
			break;
	return i;
}

static bool grow_slots(struct vectab *t)
{
	uint32_t n = t->nslots ? t->nslots * 2 : 64;
	uint32_t *s = calloc(n, sizeof *s);
	if (!s)
		return false;
	free(t->slots);
	t->slots = s;
	t->nslots = n;
	for (uint32_t id = 0; id < t->n; id++) {
		uint32_t i = hash(vectab_get(t, id), t->width) & (n - 1);
		while (s[i])
			i = (i + 1) & (n - 1);
		s[i] = id + 1;
	}
	assert(t->n + t->n / 2 < t->nslots);
	return true;
}

uint32_t vectab_add(struct vectab *t, const int32_t *v)
{
	if (t->n + t->n / 2 >= t->nslots && !grow_slots(t))
		return VECTAB_NONE;
	uint32_t i = locate(t, v);
	if (t->slots[i])
		return t->slots[i] - 1;
	if (t->n == t->cap) {
		uint32_t cap = t->cap ? t->cap * 2 : 32;
		int32_t *p = t->cap > 1u << 30 ? NULL
		                               : realloc(t->data, (size_t)cap * (t->width ? t->width : 1) * sizeof *p);
		if (!p)
			return VECTAB_NONE;
		t->data = p;
		t->cap = cap;
	}
	if (t->width)
		memcpy(t->data + (uint64_t)t->n * t->width, v, t->width * sizeof *v);
	assert(t->n < t->cap);
	t->slots[i] = ++t->n;
	return t->n - 1;
}

uint64_t vectab_bytes(const struct vectab *t)
{
	return (uint64_t)t->cap * t->width * 4 + (uint64_t)t->nslots * 4;
}
