#include "verdict/state_sets.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"

#define MAX_SET              20000u /* members of one set */
#define STATE_SETS_MAX_BYTES ((uint64_t)2 << 30)
#define STATE_SETS_MAX_WORK  200000000u /* members put into sets: a minute or so */

void state_sets_spent(struct state_sets *x, const char *limit)
{
	if (!x->out->limit)
		x->out->limit = limit;
}

void state_sets_worked(struct state_sets *x, uint64_t n)
{
	x->work += n;
	if (x->work > STATE_SETS_MAX_WORK)
		state_sets_spent(x, "work");
}

void state_sets_free(struct state_sets *x)
{
	seqtab_free(&x->states);
	seqtab_free(&x->members);
	seqtab_free(&x->sets);
	map_free(&x->seen);
	free(x->v);
	free(x->set);
	free(x->stamp);
}

void state_sets_begin_set(struct state_sets *x)
{
	x->nset = 0;
	x->stamped++;
}

void state_sets_put(struct state_sets *x, const int32_t *member)
{
	state_sets_put_row(x, member, x->width);
}

void state_sets_put_row(struct state_sets *x, const int32_t *member, uint32_t len)
{
	assert(x->nset <= x->cap_set);
	uint32_t id = seqtab_add(&x->members, member, len);
	state_sets_worked(x, 1);
	if (id == MAP_NONE || !GROW(x->stamp, x->cap_stamp, id + 1ull) || !GROW(x->set, x->cap_set, x->nset + 1ull))
		state_sets_spent(x, "memory");
	else if (x->nset == MAX_SET)
		state_sets_spent(x, x->crowded);
	else if (x->stamp[id] != x->stamped) {
		x->stamp[id] = x->stamped;
		x->set[x->nset++] = id;
	}
}

bool state_sets_in_set(const struct state_sets *x, const int32_t *member)
{
	return state_sets_in_set_row(x, member, x->width);
}

bool state_sets_in_set_row(const struct state_sets *x, const int32_t *member, uint32_t len)
{
	uint32_t id = seqtab_find(&x->members, member, len);
	return id != MAP_NONE && id < x->cap_stamp && x->stamp[id] == x->stamped;
}

static int by_number(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	return (a > b) - (a < b);
}

uint32_t state_sets_keep_set(struct state_sets *x)
{
	if (x->nset)
		qsort(x->set, x->nset, sizeof *x->set, by_number);
	for (uint32_t i = 1; i < x->nset; i++)
		assert(x->set[i - 1] < x->set[i]); /* sorted, no member twice */
	uint32_t id = seqtab_add(&x->sets, (const int32_t *)x->set, x->nset);
	if (id == MAP_NONE)
		state_sets_spent(x, "memory");
	return id;
}

uint32_t state_sets_add(struct state_sets *x, const int32_t *state, uint32_t set, uint32_t parent, struct move by, uint64_t more)
{
	return state_sets_add_two(x, state, set, parent, by, (struct move){ MAP_NONE, 0 }, more);
}

uint32_t state_sets_add_two(struct state_sets *x, const int32_t *state, uint32_t set, uint32_t parent, struct move by,
                            struct move then, uint64_t more)
{
	uint32_t s = seqtab_add(&x->states, state, x->nstate), id = x->n;
	uint64_t bytes = more + seqtab_bytes(&x->states) + seqtab_bytes(&x->members) + seqtab_bytes(&x->sets) +
	                 x->cap * sizeof *x->v + x->seen.cap * sizeof(struct map_slot);
	if (s == MAP_NONE || set == MAP_NONE || !map_intern(&x->seen, (uint64_t)s << 32 | set, &id) ||
	    !GROW(x->v, x->cap, x->n + 1ull) || bytes > STATE_SETS_MAX_BYTES) {
		state_sets_spent(x, "memory");
		return MAP_NONE;
	}
	if (id != x->n)
		return MAP_NONE;
	x->v[x->n++] = (struct state_and_set){ s, set, parent, by, then };
	if (x->n > x->out->max_states)
		state_sets_spent(x, "states");
	return id;
}

bool state_sets_path(struct state_sets *x, uint32_t id)
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
