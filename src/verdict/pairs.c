#include "verdict/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"

#define MAX_SET         20000u /* members of one set */
#define PAIRS_MAX_BYTES ((uint64_t)2 << 30)
#define PAIRS_MAX_WORK  200000000u /* members put into sets: a minute or so */

void pairs_spent(struct pairs *x, const char *limit)
{
	if (!x->out->limit)
		x->out->limit = limit;
}

void pairs_worked(struct pairs *x, uint64_t n)
{
	x->work += n;
	if (x->work > PAIRS_MAX_WORK)
		pairs_spent(x, "work");
}

void pairs_free(struct pairs *x)
{
	seqtab_free(&x->states);
	seqtab_free(&x->members);
	seqtab_free(&x->sets);
	map_free(&x->seen);
	free(x->v);
	free(x->set);
	free(x->stamp);
}

void pairs_begin_set(struct pairs *x)
{
	x->nset = 0;
	x->stamped++;
}

void pairs_put(struct pairs *x, const int32_t *member)
{
	pairs_put_row(x, member, x->width);
}

void pairs_put_row(struct pairs *x, const int32_t *member, uint32_t len)
{
	assert(x->nset <= x->cap_set);
	uint32_t id = seqtab_add(&x->members, member, len);
	pairs_worked(x, 1);
	if (id == MAP_NONE || !GROW(x->stamp, x->cap_stamp, id + 1ull) || !GROW(x->set, x->cap_set, x->nset + 1ull))
		pairs_spent(x, "memory");
	else if (x->nset == MAX_SET)
		pairs_spent(x, x->crowded);
	else if (x->stamp[id] != x->stamped) {
		x->stamp[id] = x->stamped;
		x->set[x->nset++] = id;
	}
}

bool pairs_in_set(const struct pairs *x, const int32_t *member)
{
	return pairs_in_set_row(x, member, x->width);
}

bool pairs_in_set_row(const struct pairs *x, const int32_t *member, uint32_t len)
{
	uint32_t id = seqtab_find(&x->members, member, len);
	return id != MAP_NONE && id < x->cap_stamp && x->stamp[id] == x->stamped;
}

static int by_number(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	return (a > b) - (a < b);
}

uint32_t pairs_keep_set(struct pairs *x)
{
	if (x->nset)
		qsort(x->set, x->nset, sizeof *x->set, by_number);
	for (uint32_t i = 1; i < x->nset; i++)
		assert(x->set[i - 1] < x->set[i]); /* sorted, no member twice */
	uint32_t id = seqtab_add(&x->sets, (const int32_t *)x->set, x->nset);
	if (id == MAP_NONE)
		pairs_spent(x, "memory");
	return id;
}

uint32_t pairs_add(struct pairs *x, const int32_t *state, uint32_t set, uint32_t parent, struct move by, uint64_t more)
{
	return pairs_add_two(x, state, set, parent, by, (struct move){ MAP_NONE, 0 }, more);
}

uint32_t pairs_add_two(struct pairs *x, const int32_t *state, uint32_t set, uint32_t parent, struct move by, struct move then,
                       uint64_t more)
{
	uint32_t s = seqtab_add(&x->states, state, x->nstate), id = x->n;
	uint64_t bytes = more + seqtab_bytes(&x->states) + seqtab_bytes(&x->members) + seqtab_bytes(&x->sets) +
	                 x->cap * sizeof *x->v + x->seen.cap * sizeof(struct map_slot);
	if (s == MAP_NONE || set == MAP_NONE || !map_intern(&x->seen, (uint64_t)s << 32 | set, &id) ||
	    !GROW(x->v, x->cap, x->n + 1ull) || bytes > PAIRS_MAX_BYTES) {
		pairs_spent(x, "memory");
		return MAP_NONE;
	}
	if (id != x->n)
		return MAP_NONE;
	x->v[x->n++] = (struct pair){ s, set, parent, by, then };
	if (x->n > x->out->max_states)
		pairs_spent(x, "states");
	return id;
}

bool pairs_path(struct pairs *x, uint32_t id)
{
	assert(id < x->n);
	uint32_t n = 0;
	for (uint32_t i = id; i; i = x->v[i].parent)
		n += x->v[i].then.thread != MAP_NONE ? 2 : 1;
	for (uint32_t i = id; i; i = x->v[i].parent)
		assert(x->v[i].parent < i); /* breadth first: a parent comes before */
	x->out->path = malloc((n + 1) * sizeof *x->out->path);
	x->out->npath = x->out->path ? n : 0;
	for (uint32_t i = id; x->out->path && i; i = x->v[i].parent) {
		if (x->v[i].then.thread != MAP_NONE)
			x->out->path[--n] = x->v[i].then;
		x->out->path[--n] = x->v[i].by;
	}
	return x->out->path != NULL;
}
