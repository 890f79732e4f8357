#include "explore/serial.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"

struct serial_origin {
	uint32_t parent, thread, outcome;
};

struct serial_search {
	struct product *x;
	uint32_t n; /* threads */
	struct vector_table states;
	struct serial_origin *from;
	uint32_t cap;
	int32_t *cur, *next;
};

static bool add(struct serial_search *s, const int32_t *v, struct serial_origin from)
{
	uint32_t before = s->states.n, id = vector_table_add(&s->states, v);
	if (id == VECTOR_TABLE_NONE)
		return false;
	if (id < before)
		return true;
	if (!GROW_RAW(s->from, s->cap, id + 1ull))
		return false;
	assert(id < s->cap && (from.thread == IR_NONE) == (id == 0) && from.parent <= id);
	s->from[id] = from;
	return true;
}

/* Is the thread allowed to move when blocks run serially? */
static bool has_turn(const struct serial_search *s, uint32_t thread)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (i != thread && s->x->kinds[s->x->kind_of[i]].info[s->cur[i + 1]].inside)
			return false;
	return true;
}

static bool expand(struct serial_search *s, uint32_t id)
{
	struct product *x = s->x;
	for (uint32_t t = 0; t < s->n; t++) {
		uint32_t count;
		if (!has_turn(s, t))
			continue;
		const struct prod_edge *e = product_step(x, x->kind_of[t], (uint32_t)s->cur[0], (uint32_t)s->cur[t + 1], &count);
		for (uint32_t k = 0; e && k < count; k++) {
			if (e[k].flags)
				continue;
			memcpy(s->next, s->cur, sizeof *s->next * (s->n + 1));
			s->next[0] = (int32_t)e[k].global;
			s->next[t + 1] = (int32_t)e[k].local;
			if (!add(s, s->next, (struct serial_origin){ id, t, x->moves[e[k].move] }))
				return false;
		}
	}
	return !x->out_of_memory;
}

static bool make_path(const struct serial_search *s, uint32_t id, struct move **path, uint32_t *n)
{
	uint32_t len = 0;
	for (uint32_t i = id; i; i = s->from[i].parent)
		len++;
	*path = malloc(sizeof **path * (len + 1));
	*n = len;
	if (!*path)
		return false;
	for (uint32_t i = id; i; i = s->from[i].parent)
		(*path)[--len] = (struct move){ s->from[i].thread, s->from[i].outcome };
	assert(!len);
	return true;
}

bool serial_path(struct product *x, const uint32_t *goal, uint32_t max, struct move **path, uint32_t *n)
{
	assert(x->mode == PROD_STANDARD && !x->merge_local && !x->transactions && !x->simple);
	struct serial_search s = { .x = x, .n = x->ir->nthreads };
	bool found = false;
	*path = NULL;
	*n = 0;
	vector_table_init(&s.states, s.n + 1);
	s.cur = calloc(s.n + 1, sizeof *s.cur);
	s.next = calloc(s.n + 1, sizeof *s.next);
	bool ok = s.cur && s.next;
	if (ok) {
		s.cur[0] = (int32_t)product_initial_global(x);
		for (uint32_t i = 0; i < s.n; i++)
			s.cur[i + 1] = (int32_t)product_initial_local(x, i);
		ok = add(&s, s.cur, (struct serial_origin){ 0, IR_NONE, 0 });
	}
	for (uint32_t i = 0; ok && i < s.states.n && i < max && !found; i++) {
		memcpy(s.cur, vector_table_get(&s.states, i), sizeof *s.cur * (s.n + 1));
		if (!memcmp(s.cur, goal, sizeof *goal * (s.n + 1)))
			found = make_path(&s, i, path, n);
		else
			ok = expand(&s, i);
	}
	vector_table_free(&s.states);
	free(s.from);
	free(s.cur);
	free(s.next);
	return found;
}
