#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

void map_init(struct map *m)
{
	memset(m, 0, sizeof *m);
}

void map_free(struct map *m)
{
	free(m->slots);
	map_init(m);
}

static struct map_slot *find(const struct map *m, uint64_t key)
{
	assert(m->len < m->cap && !(m->cap & (m->cap - 1))); /* a free slot ends every search */
	size_t mask = m->cap - 1;
	for (size_t i = (size_t)hash64(key) & mask;; i = (i + 1) & mask) {
		struct map_slot *s = &m->slots[i];
		if (!s->val1 || s->key == key)
			return s;
	}
}

uint32_t map_get(const struct map *m, uint64_t key)
{
	if (!m->len)
		return MAP_NONE;
	struct map_slot *s = find(m, key);
	return s->val1 ? s->val1 - 1 : MAP_NONE;
}

static bool grow(struct map *m)
{
	struct map bigger = { .cap = m->cap ? m->cap * 2 : 64, .len = m->len };
	if (bigger.cap > SIZE_MAX / sizeof *bigger.slots)
		return false;
	bigger.slots = calloc(bigger.cap, sizeof *bigger.slots);
	if (!bigger.slots)
		return false;
	for (size_t i = 0; i < m->cap; i++)
		if (m->slots[i].val1)
			*find(&bigger, m->slots[i].key) = m->slots[i];
	assert(bigger.len <= bigger.cap / 4 * 3);
	free(m->slots);
	*m = bigger;
	return true;
}

static struct map_slot *slot_for(struct map *m, uint64_t key)
{
	if (m->len >= m->cap / 4 * 3 && !grow(m))
		return NULL;
	return find(m, key);
}

bool map_put(struct map *m, uint64_t key, uint32_t val)
{
	assert(val != MAP_NONE);
	struct map_slot *s = slot_for(m, key);
	if (!s)
		return false;
	m->len += !s->val1;
	s->key = key;
	s->val1 = val + 1;
	assert(m->len <= m->cap / 4 * 3 + 1 && s->val1 == val + 1);
	return true;
}

bool map_intern(struct map *m, uint64_t key, uint32_t *val)
{
	assert(*val != MAP_NONE);
	struct map_slot *s = slot_for(m, key);
	if (!s)
		return false;
	if (s->val1) {
		*val = s->val1 - 1;
		return true;
	}
	m->len++;
	s->key = key;
	s->val1 = *val + 1;
	return true;
}
