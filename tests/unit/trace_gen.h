/*
 * trace_gen: random small traces that a program could have made: locks are
 * held by one thread at a time (and may be taken again by it), blocks nest,
 * threads start by a fork or were there before, some blocks never end.
 */
#ifndef INTACT_TESTS_TRACE_GEN_H
#define INTACT_TESTS_TRACE_GEN_H

#include <stdbool.h>
#include <string.h>

#include "base/rng.h"
#include "event/event.h"

#define GEN_MAX 64
#define GEN_THREADS 6

struct gen {
	struct event ev[GEN_MAX];
	uint32_t n;
	uint32_t threads, vars, locks;
	bool forks; /* many, in blocks too */
};

struct gen_state {
	uint32_t depth[GEN_THREADS], owner[8], held[8];
	bool born[GEN_THREADS], dead[GEN_THREADS];
};

static bool gen_one(struct rng *r, struct gen *g, struct gen_state *s, uint32_t t)
{
	struct event *e = &g->ev[g->n];
	uint32_t roll = rng_below(r, 100), x;
	if (g->forks && rng_below(r, 5) == 0)
		roll = 95;
	memset(e, 0, sizeof *e);
	e->index = g->n + 1;
	e->loc = g->n + 100;
	e->thread = t;
	if (roll < 46) {
		e->kind = rng_below(r, 2) ? EVENT_READ : EVENT_WRITE;
		e->target = rng_below(r, g->vars);
		return true;
	}
	if (roll < 66 && g->locks) {
		x = rng_below(r, g->locks);
		e->target = x;
		if (s->held[x] && s->owner[x] == t) {
			/* mostly release; sometimes take it again */
			bool again = rng_below(r, 5) == 0;
			e->kind = again ? EVENT_ACQ : EVENT_REL;
			s->held[x] = again ? s->held[x] + 1 : s->held[x] - 1;
			return true;
		}
		if (s->held[x])
			return false;
		e->kind = EVENT_ACQ;
		s->owner[x] = t;
		s->held[x] = 1;
		return true;
	}
	if (roll < 84) {
		if (s->depth[t] > 2)
			return false;
		if (s->depth[t] && rng_below(r, 3))
			return false;
		s->depth[t]++;
		e->kind = EVENT_BEGIN;
		return true;
	}
	if (roll < 95) {
		if (!s->depth[t])
			return false;
		s->depth[t]--;
		e->kind = EVENT_END;
		return true;
	}
	x = rng_below(r, g->threads);
	e->target = x;
	if (x == t || s->dead[x])
		return false;
	if (!s->born[x]) {
		s->born[x] = true;
		e->kind = EVENT_FORK;
		return true;
	}
	s->dead[x] = true;
	e->kind = EVENT_JOIN;
	return true;
}

/* At most `max` events. */
static void gen_some(struct rng *r, struct gen *g, uint32_t max)
{
	struct gen_state s;
	memset(&s, 0, sizeof s);
	g->threads = 2 + rng_below(r, 3);
	g->vars = 1 + rng_below(r, 3);
	g->locks = rng_below(r, 3);
	g->n = 0;
	for (uint32_t t = 0; t < g->threads; t++)
		s.born[t] = t == 0 || rng_below(r, 4) >= 1u + 2 * g->forks;
	uint32_t want = 4 + rng_below(r, max - 3), tries = want * 8;
	while (g->n < want && tries--) {
		uint32_t t = rng_below(r, g->threads);
		if (s.born[t] && !s.dead[t])
			g->n += gen_one(r, g, &s, t);
	}
}

static inline void gen_trace(struct rng *r, struct gen *g, uint32_t max)
{
	g->forks = false;
	gen_some(r, g, max);
}

static inline void gen_forking(struct rng *r, struct gen *g, uint32_t max)
{
	g->forks = true;
	gen_some(r, g, max);
}

#endif
