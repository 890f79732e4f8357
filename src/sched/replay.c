/*
 * replay: a recorded schedule, exactly; and guided runs, which follow a list of
 * segments where they can (minimize.h).
 */
#include "base/invariant.h"
#include "sched/session.h"

/* The next id for a parent's child, in the order of the file. */
static bool define(struct sched *s, uint32_t t, const struct sched_origin *o)
{
	assert(t > 0);
	uint32_t p = o->parent;
	if (p >= t || s->n_ids != t || t >= s->o.max_threads)
		return false;
	uint32_t *link = &s->th[p].first_child, n = 0;
	for (; *link != NONE; n++)
		link = &s->th[*link].sibling;
	if (n != o->ordinal)
		return false;
	*link = t;
	s->th[t] = (struct sched_thread){ .parent = p, .ordinal = n, .first_child = NONE, .sibling = NONE, .place = NONE };
	s->n_ids++;
	return true;
}

bool sched_replay(struct sched *s, const struct sched_event *e, uint32_t n, const struct sched_origin *origins, uint32_t n_threads)
{
	SCHED_ASSERT(!s->in_run);
	for (uint32_t t = s->n_ids; origins && t < n_threads; t++)
		if (!define(s, t, &origins[t]))
			return false;
	for (uint32_t i = 0; i < n; i++)
		if (e[i].thread >= s->o.max_threads || e[i].op.kind >= SCHED_KINDS)
			return false;
	s->replay.e = e;
	s->replay.n = n;
	return true;
}

/* Without preemption: the running thread, else the next. */
static uint32_t unpreempted(const struct sched *s)
{
	return ready_from(s, s->current);
}

static uint32_t diverges(struct sched *s, enum sched_differs what, const struct sched_event *e)
{
	assert(what != SCHED_SAME);
	struct sched_divergence *x = &s->replay.diff;
	*x = (struct sched_divergence){ .what = what, .step = s->n, .thread = e->thread, .expected = e->op };
	if (e->thread < s->n_ids && s->th[e->thread].life == LIFE_LIVE)
		x->found = s->th[e->thread].op;
	return stop_run(s, SCHED_STOP_DIVERGED);
}

uint32_t replay_pick(struct sched *s)
{
	if (s->n >= s->replay.n)
		return s->o.stop_at_end ? stop_run(s, SCHED_STOP_END) : unpreempted(s);
	const struct sched_event *e = &s->replay.e[s->n];
	uint32_t t = e->thread;
	if (t >= s->n_ids || s->th[t].life != LIFE_LIVE)
		return diverges(s, SCHED_DIFF_ABSENT, e);
	const struct sched_op *op = &s->th[t].op;
	if (op->kind != e->op.kind)
		return diverges(s, SCHED_DIFF_KIND, e);
	if (e->op.pc && op->pc != e->op.pc)
		return diverges(s, SCHED_DIFF_PLACE, e);
	if (!is_ready(s, t))
		return diverges(s, SCHED_DIFF_DISABLED, e);
	return t;
}

uint32_t replay_choose(struct sched *s, uint32_t n)
{
	assert(s->n >= 1 && n >= 1);
	if (s->n > s->replay.n)
		return 0;
	const struct sched_event *e = &s->replay.e[s->n - 1];
	if (e->choices != n || e->choice >= n) {
		diverges(s, SCHED_DIFF_CHOICES, e);
		return 0;
	}
	return e->choice;
}

void replay_end(struct sched *s)
{
	if (!s->stop && s->n < s->replay.n && !s->replay.diff.what)
		s->replay.diff = (struct sched_divergence){
			.what = SCHED_DIFF_SHORT, .step = s->n, .thread = s->replay.e[s->n].thread, .expected = s->replay.e[s->n].op
		};
}

/* --- guided --------------------------------------------------------------- */

void sched_guide(struct sched *s, const struct segment *seg, uint32_t n, const struct guide_choice *c, uint32_t n_choice)
{
	SCHED_ASSERT(!s->in_run && s->o.strategy == SCHED_GUIDE);
	s->guide = (struct sched_guide){ .seg = seg, .choice = c, .n = n, .n_choice = n_choice };
}

/* A segment without end is over where its thread first has to wait. */
static bool segment_over(const struct sched *s, const struct segment *g)
{
	return s->th[g->thread].steps >= g->until || (g->until == NONE && !is_ready(s, g->thread));
}

/* The first segment that is not done and whose thread can run; those skipped
 * stay for later. */
uint32_t guide_pick(struct sched *s)
{
	assert(s->guide.at <= s->guide.n);
	struct sched_guide *g = &s->guide;
	while (g->at < g->n && segment_over(s, &g->seg[g->at]))
		g->at++;
	for (uint32_t i = g->at; i < g->n; i++) {
		uint32_t t = g->seg[i].thread;
		if (is_ready(s, t) && s->th[t].steps < g->seg[i].until)
			return t;
	}
	return unpreempted(s);
}

uint32_t guide_choose(struct sched *s, uint32_t n)
{
	assert(s->th[s->current].steps >= 1);
	const struct sched_guide *g = &s->guide;
	uint32_t t = s->current, step = s->th[t].steps - 1;
	for (uint32_t i = 0; i < g->n_choice; i++)
		if (g->choice[i].thread == t && g->choice[i].step == step)
			return g->choice[i].choice < n ? g->choice[i].choice : 0;
	return 0;
}
