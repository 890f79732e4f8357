/*
 * fair: threads that are kept back although they could run: those that yield,
 * would time out, are steered, or await a change.
 *
 * Yields, time-outs and steering are for the sampling strategies; delay and
 * preemption bounding let a thread give way that yields again and again (as
 * CHESS does: without it a loop that yields has no end), and so does every second
 * run of the sampling ones: what spins a little and then waits (std::atomic::wait)
 * would otherwise hardly ever come to wait. The exhaustive searches
 * see every order and park nothing but a process exit with exit_last. Awaits are
 * part of what enabled means and hold for all.
 */
#include "base/invariant.h"
#include "sched/session.h"

enum { YIELDS = 4 };

static bool samples(const struct sched *s)
{
	return s->strategy <= SCHED_POS;
}

void fair_begin(struct sched *s)
{
	struct steer *b = s->steer;
	b->now = NONE;
	b->held = b->hit = false;
	s->patient = !samples(s) || !rnd_below(s, 2);
	if (b->n && samples(s) && rnd_below(s, 8)) {
		b->now = rnd_below(s, b->n);
		s->settles = true;
	}
}

/* Is `op` at that place of the bias? Without places the user says so. */
static bool is_at(const struct sched_bias *x, const struct sched_op *op, uint64_t pc, unsigned flag)
{
	return x->before ? op->pc == pc : op->flags & flag;
}

static void steer_arrive(struct sched *s, uint32_t t)
{
	struct steer *b = s->steer;
	const struct sched_bias *x = &b->b[b->now];
	if (!is_at(x, &s->th[t].op, x->before, SCHED_AT_BEFORE) || b->hit || (x->after && !s->th[t].passed) || !rnd_below(s, 4))
		return;
	b->held = true;
	thread_park(s, t, PARK_STEER);
}

/* A thread that has yielded YIELDS times while no other thread ran: it spins. */
static bool yields_on(const struct sched *s, struct sched_thread *x)
{
	x->yields = x->yield_switch == s->switches ? x->yields + 1 : 1;
	x->yield_switch = s->switches;
	return x->yields > YIELDS;
}

void fair_arrive(struct sched *s, uint32_t t)
{
	struct sched_thread *x = &s->th[t];
	uint8_t kind = x->op.kind;
	if (kind == SCHED_PROCESS_EXIT && s->o.exit_last && s->strategy != SCHED_REPLAY)
		thread_park(s, t, PARK_EXIT);
	if (s->strategy >= SCHED_ALL)
		return;
	bool gives_way = kind == SCHED_YIELD && (!s->patient || yields_on(s, x));
	if (gives_way && x->place != NONE) {
		thread_park(s, t, PARK_YIELD);
		s->yielded[s->n_yielded++] = t;
	}
	if (!samples(s))
		return;
	if (gives_way && s->strategy == SCHED_PCT)
		set_priority(s, t, lower_than_all(s));
	if ((kind == SCHED_SLEEP || x->op.flags & (SCHED_TIMED | SCHED_SPURIOUS)) && rnd_below(s, 8))
		thread_park(s, t, PARK_LATE);
	if (s->steer->now != NONE)
		steer_arrive(s, t);
}

/* All with this reason; true if someone is ready now. */
static bool release(struct sched *s, uint8_t why)
{
	for (uint32_t t = 0; t < s->n_ids && s->n_parked; t++)
		if (s->th[t].life == LIFE_LIVE)
			thread_unpark(s, t, why);
	return s->n_ready;
}

/* One of the time-outs fires, drawn at random, and half of the others at the same time: what sleeps equally long wakes
 * together, and a wait with a limit may still be ended by what the first does. */
static bool release_late(struct sched *s)
{
	uint32_t from = rnd_below(s, s->n_ids);
	for (uint32_t i = 0; i < s->n_ids && s->n_parked; i++) {
		uint32_t t = (from + i) % s->n_ids;
		if (s->th[t].life == LIFE_LIVE && s->th[t].enabled && s->th[t].parked & PARK_LATE &&
		    (!s->n_ready || rnd_below(s, 2)))
			thread_unpark(s, t, PARK_LATE);
	}
	return s->n_ready;
}

void fair_release(struct sched *s)
{
	s->n_yielded = 0;
	(void)(release(s, PARK_YIELD) || release_late(s) || release(s, PARK_STEER) || release(s, PARK_EXIT));
}

void fair_executed(struct sched *s, const struct sched_event *e)
{
	struct steer *b = s->steer;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < s->n_yielded; i++) {
		uint32_t t = s->yielded[i];
		if (t == e->thread)
			s->yielded[kept++] = t;
		else
			thread_unpark(s, t, PARK_YIELD);
	}
	s->n_yielded = kept;
	if (b->now == NONE)
		return;
	const struct sched_bias *x = &b->b[b->now];
	if (e->op.pc == x->after && x->after)
		s->th[e->thread].passed = 1;
	if (b->held && is_at(x, &e->op, x->until, SCHED_AT_UNTIL)) {
		/* held by another thread? */
		for (uint32_t t = 0; t < s->n_ids; t++)
			if (t != e->thread && s->th[t].life == LIFE_LIVE && s->th[t].parked & PARK_STEER) {
				b->hit = true;
				thread_unpark(s, t, PARK_STEER);
			}
	}
}

bool sched_steer(struct sched *s, const struct sched_bias *b, uint32_t n)
{
	if (n > SCHED_BIAS_MAX)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		s->steer->b[i] = b[i];
		s->steer->hits[i] = 0;
	}
	s->steer->n = n;
	return true;
}

uint32_t sched_steering(const struct sched *s)
{
	return s->steer->now == NONE ? SCHED_NOBODY : s->steer->now;
}

uint64_t sched_steered(const struct sched *s, uint32_t i)
{
	SCHED_ASSERT(i < s->steer->n);
	return s->steer->hits[i];
}

/* --- awaits --------------------------------------------------------------- */

static bool covers(const struct sched_op *op, const struct sched_range *r)
{
	if (!r->size)
		return op->a == r->a || (op->b && op->b == r->a);
	return op->a < r->a + r->size && r->a < op->a + op->size;
}

bool await_changes(const struct sched_event *e, const struct sched_range *r)
{
	if (e->result & (SCHED_RES_FAILED | SCHED_RES_SAME))
		return false;
	bool writes = e->op.kind == SCHED_WRITE || e->op.kind == SCHED_STORE || e->op.kind == SCHED_FLUSH ||
	              e->op.kind == SCHED_RMW;
	bool reads = e->op.kind == SCHED_READ || e->op.kind == SCHED_LOAD;
	return !reads && (r->size == 0) != writes && covers(&e->op, r);
}

/* For each range the event where t has looked at it last, and whether anyone
 * has changed it since. Looks back over `ops` operations of t at most. */
static bool changed_since(struct sched *s, uint32_t t, uint32_t ops)
{
	struct awaited *x = &s->awaited[t];
	uint32_t seen = 0, all = (1u << x->n) - 1;
	bool changed = false;
	uint32_t j = s->n;
	while (j && ops && seen != all) {
		const struct sched_event *e = &s->ev[--j];
		for (uint32_t i = 0; i < x->n; i++) {
			if (seen >> i & 1)
				continue;
			if (e->thread == t && covers(&e->op, &x->range[i])) {
				seen |= 1u << i;
				x->since[i] = j;
			} else if (!is_own(s, e, t))
				changed |= await_changes(e, &x->range[i]);
		}
		ops -= e->thread == t;
	}
	for (uint32_t i = 0; i < x->n; i++) /* read where there is no point: since the loop began */
		if (!(seen >> i & 1))
			x->since[i] = j;
	return changed;
}

void sched_await(struct sched *s, uint32_t t, const struct sched_range *r, uint32_t n, uint32_t ops)
{
	struct sched_thread *x = &s->th[t];
	SCHED_ASSERT(n && n <= SCHED_AWAIT_MAX && ops);
	if (ops > x->steps)
		return;
	for (uint32_t i = 0; i < n; i++)
		s->awaited[t].range[i] = r[i];
	s->awaited[t].n = n;
	x->await_call = 1;
	if (changed_since(s, t, ops))
		return;
	x->awaits = 1;
	s->awaiting[s->n_awaiting++] = t;
	s->settled = s->settles ? s->settled : s->n;
	s->settles = true;
}

/* sched_point: the pending operation is an await. */
void await_arrive(struct sched *s, uint32_t t)
{
	assert(s->awaited[t].n >= 1 && s->awaited[t].n <= SCHED_AWAIT_MAX);
	struct sched_thread *x = &s->th[t];
	const struct awaited *w = &s->awaited[t];
	bool own = w->n == 1 && w->range[0].a == x->op.a && (!w->range[0].size || w->range[0].size == x->op.size);
	x->await_call = 0;
	x->op.flags |= own ? SCHED_AWAITS : SCHED_AWAITS | SCHED_MANY;
	if (!own && !s->has_many) {
		s->has_many = true;
		if (s->cov)
			coverage_forget(s); /* hashes are made otherwise from now on */
	}
	thread_ready(s, t);
}

void await_settle(struct sched *s, const struct sched_event *e)
{
	assert(s->n_awaiting <= s->n_ids && e->thread < s->n_ids);
	for (uint32_t i = 0; i < s->n_awaiting;) {
		uint32_t t = s->awaiting[i];
		struct sched_thread *x = &s->th[t];
		bool changes = false;
		for (uint32_t r = 0; r < s->awaited[t].n && !is_own(s, e, t); r++)
			changes |= await_changes(e, &s->awaited[t].range[r]);
		if (!changes) {
			i++;
			continue;
		}
		x->awaits = 0;
		s->awaiting[i] = s->awaiting[--s->n_awaiting];
		thread_ready(s, t);
	}
}
