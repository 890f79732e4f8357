/*
 * causal_run: replaying an abstract run on the program, by trying the outcomes
 * of each step (depth first, under a budget).
 */
#include "verdict/causal_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"

#define REPLAY_TRIES 200000u

void causal_run_free(struct causal_run *r)
{
	if (!r)
		return;
	free(r->threads);
	free(r->events);
	free(r->touches);
	free(r->links);
	free(r->count);
	free(r->path);
	free(r->schedule);
	free(r);
}

struct causal_outcome {
	struct ir_choices ch;
	uint32_t number;
};

struct collect {
	struct causal_outcome *list;
	uint32_t n, seen, cap;
	bool failed;
};

static bool collect(void *arg, enum ir_result r, const int32_t *next, const struct ir_choices *ch, const struct ir_effect *eff)
{
	struct collect *c = arg;
	(void)next;
	(void)eff;
	if (r == IR_OK) {
		if (!GROW_RAW(c->list, c->cap, c->n + 1ull)) {
			c->failed = true;
			return false;
		}
		c->list[c->n++] = (struct causal_outcome){ *ch, c->seen };
	}
	c->seen++;
	return c->seen < 4096;
}

static bool mode_writes(uint32_t mode)
{
	return !(mode == IRA_READ || mode == IRA_READ_INV || mode == IRA_READ_RESP);
}

/* Does the step touch exactly what the event touches, in the same way? */
static bool same_touches(const struct causal_run *r, const struct causal_event *e, const struct ir_effect *eff)
{
	assert(e->touch + e->ntouch <= r->ntouches);
	uint32_t hit = 0;
	if (eff->nevents >= IR_MAX_EVENTS)
		return false;
	for (uint32_t k = 0; k < e->ntouch; k++) {
		const struct causal_touch *t = &r->touches[e->touch + k];
		bool touched = false, written = false;
		for (uint32_t i = 0; i < eff->nevents; i++) {
			const struct ir_event *v = &eff->events[i];
			if (v->var != t->var || (t->elem != IR_NONE && t->elem != v->elem))
				continue;
			touched = true;
			written |= mode_writes(v->mode);
			hit++;
		}
		if (!touched || written != t->write)
			return false;
	}
	return hit == eff->nevents;
}

/* Does the thread of this event move again in the run? Where it goes then matters. */
static bool moves_again(const struct causal_run *r, uint32_t event)
{
	assert(event < r->nevents);
	for (uint32_t i = event + 1; i < r->nevents; i++)
		if (r->events[i].thread == r->events[event].thread)
			return true;
	return false;
}

struct replaying {
	const struct ir *p;
	struct causal_run *r;
	uint32_t tries;
	uint32_t *thread; /* of the run -> of the program */
};

/* Takes event `at` from `state` and all that follow; 1 done, 0 no, -1 budget. */
static int follow(struct replaying *x, uint32_t at, const int32_t *state)
{
	assert(at <= x->r->nevents);
	struct causal_run *r = x->r;
	const struct ir *p = x->p;
	if (at > r->stops)
		r->stops = at;
	if (at == r->nevents)
		return 1;
	if (++x->tries > REPLAY_TRIES)
		return -1;
	const struct causal_event *e = &r->events[at];
	uint32_t thread = x->thread[e->thread];
	struct collect c = { 0 };
	struct ir_event room[IR_MAX_EVENTS];
	int32_t *next = malloc(sizeof *next * p->nstate);
	int found = next && ir_node_of(p, state, thread) == e->node ? 0 : next ? -2 : -1;
	if (!found)
		ir_successors(p, state, thread, next, collect, &c);
	for (uint32_t i = 0; i < c.n && !found; i++) {
		struct ir_effect eff = { .events = room };
		struct ir_choices ch = c.list[i].ch;
		ch.fixed = ch.n;
		if (ir_step(p, state, thread, &ch, next, &eff) != IR_OK || !same_touches(r, e, &eff) ||
		    (ir_node_of(p, next, thread) != e->next && moves_again(r, at)))
			continue;
		r->path[at] = (struct move){ thread, c.list[i].number };
		found = follow(x, at + 1, next);
	}
	if (c.failed || c.seen >= 4096)
		found = found ? found : -1;
	free(c.list);
	free(next);
	return found == -2 ? 0 : found;
}

void causal_replay(const struct ir *p, struct causal_run *r)
{
	struct replaying x = { .p = p, .r = r };
	for (uint32_t i = 0; i < r->nevents; i++)
		assert(r->events[i].thread < r->nthreads);
	for (uint32_t i = 0; i < r->nlinks; i++)
		assert(r->links[i].from < r->nevents && r->links[i].to < r->nevents);
	r->concrete = CAUSAL_UNTRIED;
	for (uint32_t i = 0; i < r->nthreads; i++)
		if (r->threads[i].tmpl >= p->ntemplates || r->threads[i].index > p->templates[r->threads[i].tmpl].count)
			return;
	if (r->nevents > 800) /* follow() goes as deep as that */
		return;
	x.thread = calloc(r->nthreads + 1ull, sizeof *x.thread);
	free(r->path);
	r->path = calloc(r->nevents + 1ull, sizeof *r->path);
	r->npath = 0;
	r->stops = 0;
	if (x.thread && r->path) {
		for (uint32_t i = 0; i < r->nthreads; i++)
			x.thread[i] = p->templates[r->threads[i].tmpl].first_thread + r->threads[i].index - 1;
		int done = follow(&x, 0, p->init);
		r->concrete = done == 1 ? CAUSAL_POSSIBLE : done ? CAUSAL_TOO_LONG : CAUSAL_IMPOSSIBLE;
		r->npath = done == 1 ? r->nevents : 0;
	}
	free(x.thread);
}
