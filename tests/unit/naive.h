/*
 * naive: the plainest explorer there is: every reachable state in one array,
 * found again by comparing all of it through a hash. The twin of the real
 * engines, and the judge of the front end's tests.
 */
#ifndef INTACT_TESTS_NAIVE_H
#define INTACT_TESTS_NAIVE_H

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "lang/lang.h"

struct naive {
	const struct ir *p;
	int32_t *states; /* nstate values each */
	uint32_t n, cap;
	uint32_t *next_same_hash;
	struct map by_hash;
	uint64_t transitions;
	uint32_t faults[16];    /* by kind: how many transitions end in one */
	uint32_t deadlocks;     /* states without a successor, not all finished */
	bool too_many;
};

static inline uint64_t naive_hash(const int32_t *s, uint32_t n)
{
	uint64_t h = 1469598103934665603u;
	for (uint32_t i = 0; i < n; i++)
		h = hash64(h ^ (uint32_t)s[i]);
	return h;
}

static inline uint32_t naive_add(struct naive *x, const int32_t *s, bool *fresh)
{
	uint32_t w = x->p->nstate;
	uint64_t h = naive_hash(s, w);
	uint32_t first = map_get(&x->by_hash, h);
	for (uint32_t i = first; i != MAP_NONE; i = x->next_same_hash[i])
		if (!memcmp(x->states + (size_t)i * w, s, w * sizeof *s)) {
			*fresh = false;
			return i;
		}
	if (x->n == x->cap) {
		x->cap = x->cap ? x->cap * 2 : 1024;
		x->states = realloc(x->states, sizeof(int32_t) * w * x->cap);
		x->next_same_hash = realloc(x->next_same_hash, sizeof(uint32_t) * x->cap);
	}
	memcpy(x->states + (size_t)x->n * w, s, w * sizeof *s);
	x->next_same_hash[x->n] = first;
	map_put(&x->by_hash, h, x->n);
	*fresh = true;
	return x->n++;
}

struct naive_visit {
	struct naive *x;
	uint32_t count;
};

static inline bool naive_visit(void *arg, enum ir_result r, const int32_t *next,
                               const struct ir_choices *ch, const struct ir_effect *eff)
{
	struct naive_visit *v = arg;
	bool fresh;
	(void)ch;
	v->count++;
	v->x->transitions++;
	if (r == IR_FAULT)
		v->x->faults[eff->fault]++;
	else
		naive_add(v->x, next, &fresh);
	return true;
}

/* All reachable states, at most `limit`. */
static inline void naive_explore(struct naive *x, const struct ir *p, uint32_t limit)
{
	memset(x, 0, sizeof *x);
	x->p = p;
	map_init(&x->by_hash);
	bool fresh;
	naive_add(x, p->init, &fresh);
	int32_t *cur = malloc(sizeof(int32_t) * p->nstate * 2), *out = cur + p->nstate;
	for (uint32_t i = 0; i < x->n; i++) {
		if (x->n > limit) {
			x->too_many = true;
			break;
		}
		memcpy(cur, x->states + (size_t)i * p->nstate, sizeof(int32_t) * p->nstate);
		struct naive_visit v = { x, 0 };
		bool done = true;
		for (uint32_t t = 0; t < p->nthreads; t++) {
			ir_successors(p, cur, t, out, naive_visit, &v);
			done &= p->nodes[ir_node_of(p, cur, t)].kind == IRN_END;
		}
		x->deadlocks += !v.count && !done;
	}
	free(cur);
}

static inline void naive_free(struct naive *x)
{
	free(x->states);
	free(x->next_same_hash);
	map_free(&x->by_hash);
}

#endif
