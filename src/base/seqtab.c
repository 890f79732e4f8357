#include "base/seqtab.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static void *get_memory(const struct seqtab *t, void *p, size_t old, size_t now)
{
	if (t->memory)
		return t->memory(t->arg, p, old, now);
	if (now)
		return realloc(p, now);
	free(p);
	return NULL;
}

void seqtab_init(struct seqtab *t)
{
	memset(t, 0, sizeof *t);
}

void seqtab_free(struct seqtab *t)
{
	get_memory(t, t->pool, t->cap_pool * sizeof *t->pool, 0);
	get_memory(t, t->start, t->cap * sizeof *t->start, 0);
	get_memory(t, t->ids.slots, t->ids.nslots * sizeof *t->ids.slots, 0);
	seqtab_init(t);
}

struct seqtab_wanted {
	const struct seqtab *t;
	const int32_t *v;
	uint32_t len;
};

static inline bool is_wanted(const void *ctx, uint32_t id)
{
	const struct seqtab_wanted *w = ctx;
	uint32_t n;
	const int32_t *v = seqtab_get(w->t, id, &n);
	return n == w->len && (!n || !memcmp(v, w->v, n * sizeof *v));
}

static inline uint32_t hash_of(const void *ctx, uint32_t id)
{
	uint32_t n;
	const int32_t *v = seqtab_get(ctx, id, &n);
	return seqtab_hash(v, n);
}

static bool more_slots(struct seqtab *t)
{
	uint32_t old = t->ids.nslots, n = idtab_more(&t->ids);
	uint32_t *slots = n ? get_memory(t, NULL, 0, n * sizeof *slots) : NULL;
	if (!slots)
		return false;
	memset(slots, 0, n * sizeof *slots);
	get_memory(t, idtab_move(&t->ids, slots, n, 0, t->n, hash_of, t), old * sizeof *slots, 0);
	return true;
}

/* Room for `need` elements of an array; its new address, or NULL. */
static void *grown(const struct seqtab *t, void *p, uint64_t *cap, uint64_t need, size_t elem)
{
	if (need <= *cap)
		return p;
	uint64_t n = grow_size(*cap, need, elem, 0);
	void *q = n ? get_memory(t, p, *cap * elem, n * elem) : NULL;
	*cap = q ? n : *cap;
	return q;
}

static bool make_room(struct seqtab *t, uint32_t len)
{
	void *pool = grown(t, t->pool, &t->cap_pool, t->npool + len + 1, sizeof *t->pool);
	t->pool = pool ? pool : t->pool;
	void *start = pool ? grown(t, t->start, &t->cap, t->n + 2ull, sizeof *t->start) : NULL;
	t->start = start ? start : t->start;
	return start != NULL && t->n < SEQTAB_NONE - 1;
}

uint32_t seqtab_find(const struct seqtab *t, const int32_t *v, uint32_t len)
{
	return t->n ? *idtab_at(&t->ids, seqtab_hash(v, len), is_wanted, &(struct seqtab_wanted){ t, v, len }) - 1 : SEQTAB_NONE;
}

uint32_t seqtab_add(struct seqtab *t, const int32_t *v, uint32_t len)
{
	assert(!len || v < t->pool || v >= t->pool + t->npool); /* not of the table itself */
	if (idtab_full(&t->ids, t->n) && !more_slots(t))
		return SEQTAB_NONE;
	uint32_t *slot = idtab_at(&t->ids, seqtab_hash(v, len), is_wanted, &(struct seqtab_wanted){ t, v, len });
	if (*slot)
		return *slot - 1;
	if (!make_room(t, len))
		return SEQTAB_NONE;
	if (len)
		memcpy(t->pool + t->npool, v, len * sizeof *v);
	if (!t->n)
		t->start[0] = 0;
	t->npool += len;
	t->start[t->n + 1] = t->npool;
	*slot = ++t->n;
	assert(t->start[t->n - 1] + len == t->npool && t->npool < t->cap_pool && t->n < t->cap);
	return t->n - 1;
}

uint64_t seqtab_bytes(const struct seqtab *t)
{
	return t->cap_pool * sizeof *t->pool + t->cap * sizeof *t->start + t->ids.nslots * sizeof *t->ids.slots;
}
