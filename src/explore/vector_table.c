#include "explore/vector_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/grow.h"
#include "base/seqtab.h"

void vector_table_init(struct vector_table *t, uint32_t width)
{
	memset(t, 0, sizeof *t);
	t->width = width;
}

void vector_table_free(struct vector_table *t)
{
	assert(t->n <= t->cap && t->n <= t->ids.nslots);
	free(t->data);
	free(t->ids.slots);
	vector_table_init(t, t->width);
}

struct vector_table_wanted {
	const struct vector_table *t;
	const int32_t *v;
};

static inline bool is_wanted(const void *ctx, uint32_t id)
{
	const struct vector_table_wanted *w = ctx;
	return !memcmp(vector_table_get(w->t, id), w->v, w->t->width * sizeof *w->v);
}

static inline uint32_t hash_of(const void *ctx, uint32_t id)
{
	const struct vector_table *t = ctx;
	return seqtab_hash(vector_table_get(t, id), t->width);
}

uint32_t vector_table_add(struct vector_table *t, const int32_t *v)
{
	if (!idtab_room(&t->ids, t->n, hash_of, t))
		return VECTOR_TABLE_NONE;
	uint32_t *slot = idtab_at(&t->ids, seqtab_hash(v, t->width), is_wanted, &(struct vector_table_wanted){ t, v });
	if (*slot)
		return *slot - 1;
	if (!GROW_AS(GROW_UNSET, NULL, t->data, t->cap, t->n + 1ull, t->width))
		return VECTOR_TABLE_NONE;
	assert(t->n < t->cap);
	if (t->width)
		memcpy(t->data + (uint64_t)t->n * t->width, v, t->width * sizeof *v);
	*slot = ++t->n;
	return t->n - 1;
}

void vector_table_truncate(struct vector_table *t, uint32_t n)
{
	assert(n <= t->n);
	if (n == t->n)
		return;
	t->n = n;
	memset(t->ids.slots, 0, t->ids.nslots * sizeof *t->ids.slots);
	for (uint32_t id = 0; id < n; id++)
		idtab_put(t->ids.slots, t->ids.nslots, hash_of(t, id), id);
}

uint64_t vector_table_bytes(const struct vector_table *t)
{
	return (uint64_t)t->cap * t->width * 4 + (uint64_t)t->ids.nslots * 4;
}
