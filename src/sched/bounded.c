/*
 * bounded: systematic search over schedules, depth first, with a bound that
 * grows (Emmi, Qadeer, Rakamaric: delay-bounded scheduling, POPL 2011;
 * Musuvathi, Qadeer: iterative context bounding, PLDI 2007).
 *
 * The ready threads are ordered round-robin from the running one. Taking the
 * i-th costs i delays, or one preemption if the running thread is ready and i
 * is not 0. Bound b visits every schedule that costs at most b, those of
 * smaller bounds again. When a bound left nothing out, every schedule has been
 * visited. SCHED_ALL has no costs.
 *
 * Representation: a stack with one entry for each choice among two or more, of
 * the run going on; the next run takes the deepest entry that has another
 * affordable alternative.
 */
#include "base/invariant.h"
#include "sched/session.h"

struct bounded_entry {
	uint16_t n, pick;
	uint16_t costs; /* 1: alternatives cost (a preemption); 0: all are free */
	uint16_t value; /* 1: a choice by value */
	uint32_t left;  /* of the bound, before */
};

struct bounded {
	struct bounded_entry *e;
	uint32_t n, max, at; /* entries known, and the one next in this run */
	uint32_t bound, left;
	bool pruned; /* this bound left something out */
};

void bounded_layout(struct sched *s, struct layout *l)
{
	s->bounded = layout_take(l, 1, sizeof *s->bounded, true);
	struct bounded_entry *e = layout_take(l, 2 * (size_t)s->o.max_steps, sizeof *e, false);
	if (l->dry)
		return;
	s->bounded->e = e;
	s->bounded->max = 2 * s->o.max_steps;
}

void bounded_begin(struct sched *s)
{
	assert(s->bounded && s->bounded->n <= s->bounded->max);
	struct bounded *b = s->bounded;
	b->at = 0;
	b->left = b->bound;
	s->st.bound = b->bound;
}

static uint32_t cost(const struct sched *s, const struct bounded_entry *e, uint32_t pick)
{
	assert(pick < e->n);
	if (s->o.strategy == SCHED_ALL || !pick)
		return 0;
	return s->o.strategy == SCHED_DELAY ? (e->value ? 1 : pick) : e->costs;
}

/* The alternative to take among n; SCHED_STOP if the run must end. */
static uint32_t take(struct sched *s, uint32_t n, bool costs, bool value)
{
	assert(n >= 2 && n <= UINT16_MAX && s->bounded->at <= s->bounded->n);
	struct bounded *b = s->bounded;
	if (b->at == b->max)
		return stop_run(s, SCHED_STOP_MEMORY);
	struct bounded_entry *e = &b->e[b->at];
	if (b->at == b->n) {
		*e = (struct bounded_entry){ .n = (uint16_t)n, .costs = costs, .value = value };
		b->n++;
	} else if (e->n != n || e->value != value) {
		s->replay.diff = (struct sched_divergence){ .what = SCHED_DIFF_CHOICES, .step = s->n, .thread = s->current };
		return stop_run(s, SCHED_STOP_DIVERGED);
	}
	e->costs = costs;
	e->left = b->left;
	assert(e->pick < e->n && cost(s, e, e->pick) <= b->left); /* the bound never goes below 0 */
	b->left -= cost(s, e, e->pick);
	if (b->at < s->o.split_depth)
		s->prefix = sched_mix64(s->prefix + e->pick + 1);
	b->at++;
	if (s->o.shards > 1 && b->at == s->o.split_depth && s->prefix % s->o.shards != s->o.shard)
		return stop_run(s, SCHED_STOP_SHARD);
	return e->pick;
}

uint32_t bounded_pick(struct sched *s)
{
	assert(s->n_ready);
	uint32_t t = ready_from(s, s->current);
	if (s->n_ready == 1)
		return t;
	uint32_t i = take(s, s->n_ready, t == s->current, false);
	if (i >= SCHED_STOP)
		return i;
	while (i--)
		t = ready_from(s, t + 1);
	return t;
}

uint32_t bounded_choose(struct sched *s, uint32_t n)
{
	assert(n >= 1);
	if (n == 1)
		return 0;
	uint32_t i = take(s, n, false, true);
	return i >= SCHED_STOP ? 0 : i; /* the next point stops */
}

enum sched_verdict bounded_next(struct sched *s)
{
	struct bounded *b = s->bounded;
	if (s->stop == SCHED_STOP_DIVERGED)
		return SCHED_NONDETERMINISTIC;
	if (s->stop == SCHED_STOP_MEMORY)
		return SCHED_FULL;
	s->st.elsewhere += s->stop == SCHED_STOP_SHARD;
	if (b->at < b->n) { /* the run ended before what it did last time */
		s->replay.diff = (struct sched_divergence){ .what = SCHED_DIFF_SHORT, .step = s->n };
		return SCHED_NONDETERMINISTIC;
	}
	while (b->n) {
		struct bounded_entry *e = &b->e[b->n - 1];
		uint32_t p = e->pick + 1u;
		if (p < e->n && cost(s, e, p) <= e->left) {
			e->pick = (uint16_t)p;
			return SCHED_GO_ON;
		}
		b->pruned |= p < e->n;
		b->n--;
	}
	if (!b->pruned)
		return SCHED_EXHAUSTED;
	if (b->bound == s->o.max_bound)
		return SCHED_LIMIT;
	b->bound++;
	b->pruned = false;
	return SCHED_GO_ON;
}

void bounded_restart(struct sched *s)
{
	s->bounded->n = s->bounded->bound = 0;
	s->bounded->pruned = false;
}

bool bounded_short(const struct sched *s)
{
	return s->bounded->at < s->o.split_depth;
}

/* The part of the tree of this bound that is done. */
double bounded_seen(const struct sched *s)
{
	const struct bounded *b = s->bounded;
	double seen = 0, w = 1;
	for (uint32_t i = 0; i < b->n && w > 1e-12; i++) {
		const struct bounded_entry *e = &b->e[i];
		uint32_t n = 0;
		while (n < e->n && cost(s, e, n) <= e->left)
			n++;
		seen += w * e->pick / n;
		w /= n;
	}
	return seen;
}
