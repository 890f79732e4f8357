#include "verdict/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"

uint64_t row_hash(const int32_t *v, uint64_t len)
{
	uint64_t h = len;
	for (uint64_t i = 0; i < len; i++)
		h = hash64(h ^ (uint32_t)v[i]);
	return h;
}

const int32_t *row(const struct rows *r, uint32_t id, uint32_t *len)
{
	assert(id < r->n && r->start[id] <= r->start[id + 1]);
	*len = (uint32_t)(r->start[id + 1] - r->start[id]);
	return r->pool + r->start[id];
}

uint32_t row_find(const struct rows *r, const int32_t *v, uint32_t len, uint64_t hash)
{
	uint32_t id = map_get(&r->index, hash), have;
	for (; id != MAP_NONE; id = r->next[id]) {
		const int32_t *w = row(r, id, &have);
		if (have == len && (!len || !memcmp(w, v, len * sizeof *v)))
			break;
	}
	return id;
}

uint32_t row_add(struct rows *r, const int32_t *v, uint32_t len)
{
	uint64_t hash = row_hash(v, len);
	uint32_t id = row_find(r, v, len, hash);
	if (id != MAP_NONE)
		return id;
	if (!GROW(r->pool, r->cap_pool, r->npool + len + 1) || !GROW(r->start, r->cap_start, r->n + 2ull) ||
	    !GROW(r->next, r->cap_next, r->n + 1ull))
		return MAP_NONE;
	r->next[r->n] = map_get(&r->index, hash);
	if (!map_put(&r->index, hash, r->n))
		return MAP_NONE;
	if (len)
		memcpy(r->pool + r->npool, v, len * sizeof *v);
	r->npool += len;
	r->start[r->n + 1] = r->npool;
	return r->n++;
}

uint64_t rows_bytes(const struct rows *r)
{
	return r->cap_pool * sizeof *r->pool + r->cap_start * sizeof *r->start + r->cap_next * sizeof *r->next +
	       r->index.cap * sizeof(struct map_slot);
}

void rows_free(struct rows *r)
{
	free(r->pool);
	free(r->start);
	free(r->next);
	map_free(&r->index);
}
