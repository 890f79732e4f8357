#include "explore/vectab.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/grow.h"
#include "base/seqtab.h"

void vectab_init(struct vectab *t, uint32_t width)
{
	memset(t, 0, sizeof *t);
	t->width = width;
}

void vectab_free(struct vectab *t)
{
	assert(t->n <= t->cap && t->n <= t->ids.nslots);
	free(t->data);
	free(t->ids.slots);
	vectab_init(t, t->width);
}

struct vectab_wanted {
	const struct vectab *t;
	const int32_t *v;
};

static inline bool is_wanted(const void *ctx, uint32_t id)
{
	const struct vectab_wanted *w = ctx;
	return !memcmp(vectab_get(w->t, id), w->v, w->t->width * sizeof *w->v);
}

static inline uint32_t hash_of(const void *ctx, uint32_t id)
{
	const struct vectab *t = ctx;
	return seqtab_hash(vectab_get(t, id), t->width);
}

uint32_t vectab_add(struct vectab *t, const int32_t *v)
{
	if (!idtab_room(&t->ids, t->n, hash_of, t))
		return VECTAB_NONE;
	uint32_t *slot = idtab_at(&t->ids, seqtab_hash(v, t->width), is_wanted, &(struct vectab_wanted){ t, v });
	if (*slot)
		return *slot - 1;
	if (!GROW_AS(GROW_UNSET, NULL, t->data, t->cap, t->n + 1ull, t->width))
		return VECTAB_NONE;
	assert(t->n < t->cap);
	if (t->width)
		memcpy(t->data + (uint64_t)t->n * t->width, v, t->width * sizeof *v);
	*slot = ++t->n;
	return t->n - 1;
}

uint64_t vectab_bytes(const struct vectab *t)
{
	return (uint64_t)t->cap * t->width * 4 + (uint64_t)t->ids.nslots * 4;
}
