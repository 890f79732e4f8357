/*
 * session: memory, threads, the point, the record. See sched.h for what is
 * promised and session.h for the representation.
 */
#include "sched/session.h"

#include "base/invariant.h"

/* --- memory -------------------------------------------------------------- */

void *layout_take(struct layout *l, size_t count, size_t each, bool clear)
{
	assert(l->at <= l->end && each);
	size_t bytes;
	if (__builtin_mul_overflow(count, each, &bytes) || bytes > (size_t)(l->end - l->at)) {
		l->fits = false;
		return l->at;
	}
	char *p = l->at;
	bytes = (bytes + 63) & ~(size_t)63;
	l->at = bytes > (size_t)(l->end - l->at) ? l->end : l->at + bytes;
	if (clear && !l->zeroed)
		__builtin_memset(p, 0, (size_t)(l->at - p));
	return p;
}

size_t layout_left(const struct layout *l)
{
	return l->fits ? (size_t)(l->end - l->at) : 0;
}

static void defaults(struct sched_options *o)
{
	o->depth = o->depth ? o->depth : 3;
	o->max_threads = o->max_threads ? o->max_threads : 256;
	o->max_steps = o->max_steps ? o->max_steps : 100000;
	o->max_bound = o->max_bound ? o->max_bound : 1000000;
	o->fair_steps = o->fair_steps ? o->fair_steps : 200;
	o->shards = o->shards ? o->shards : 1;
	o->split_depth = o->shards == 1 ? 0 : o->split_depth ? o->split_depth : 4;
}

static bool sensible(const struct sched_options *o)
{
	assert(o->shards && o->depth); /* after defaults() */
	return o->strategy <= SCHED_GUIDE && o->max_threads <= SCHED_THREADS_MAX && o->shard < o->shards &&
	       o->max_steps <= 1u << 30 && o->depth >= 1 && o->depth <= CHANGES_MAX;
}

static bool has_bounded(const struct sched *s)
{
	return s->o.strategy == SCHED_DELAY || s->o.strategy == SCHED_PREEMPT || s->o.strategy == SCHED_ALL;
}

/* Everything but coverage, which takes what it is left. */
static void lay_out(struct sched *s, struct layout *l)
{
	uint32_t t = s->o.max_threads;
	uint32_t padded = (t + 15) & ~15u;
	s->words = (t + 63) / 64;
	s->th = layout_take(l, t, sizeof *s->th, true);
	s->ready = layout_take(l, s->words, sizeof *s->ready, true);
	s->rank = layout_take(l, padded, sizeof *s->rank, true);
	s->priority = layout_take(l, padded, sizeof *s->priority, true);
	s->granule = layout_take(l, padded, sizeof *s->granule, true);
	s->awaited = layout_take(l, t, sizeof *s->awaited, false);
	s->dense = layout_take(l, t, sizeof *s->dense, false);
	s->awaiting = layout_take(l, t, sizeof *s->awaiting, false);
	s->yielded = layout_take(l, t, sizeof *s->yielded, false);
	s->steer = layout_take(l, 1, sizeof *s->steer, true);
	s->ev = layout_take(l, (size_t)s->o.max_steps + 1, sizeof *s->ev, false);
	if (has_bounded(s))
		bounded_layout(s, l);
	assert(s->words * 64 >= t && padded >= t);
}

size_t sched_memory(const struct sched_options *given, size_t *good)
{
	struct sched s = { .o = *given };
	defaults(&s.o);
	/* a layout that fits everywhere and touches nothing */
	struct layout l = { .at = (char *)64, .end = (char *)((size_t)1 << 46), .zeroed = true, .fits = true, .dry = true };
	layout_take(&l, 1, sizeof s, false);
	lay_out(&s, &l);
	size_t fixed = (size_t)l.at + (1u << 20);
	if (good)
		*good = fixed + ((size_t)128 << 20);
	return fixed;
}

struct sched *sched_begin(void *memory, size_t bytes, bool zeroed, const struct sched_options *given)
{
	struct sched_options o = *given;
	defaults(&o);
	if (!memory || !sensible(&o) || bytes < sched_memory(given, NULL))
		return NULL;
	struct layout l = { .at = memory, .end = (char *)memory + bytes, .zeroed = zeroed, .fits = true };
	struct sched *s = layout_take(&l, 1, sizeof *s, true);
	s->o = o;
	lay_out(s, &l);
	if (!o.no_coverage)
		coverage_layout(s, &l, layout_left(&l) / (o.strategy == SCHED_DPOR ? 4 : 1));
	if (o.strategy == SCHED_DPOR)
		dpor_layout(s, &l);
	if (!l.fits)
		return NULL;
	s->st.memory_given = bytes;
	s->st.memory_used = (size_t)(l.at - (char *)memory);
	s->n_ids = 1;
	s->th[0].parent = NONE;
	s->th[0].first_child = s->th[0].sibling = NONE;
	s->estimate = 20;
	s->steer->now = NONE;
	return s;
}

/* --- threads ------------------------------------------------------------- */

static void thread_reset(struct sched *s, uint32_t t)
{
	assert(t < s->n_ids && s->n_live < s->n_ids);
	struct sched_thread *x = &s->th[t];
	__builtin_memset(&x->op, 0, sizeof x->op);
	x->life = LIFE_LIVE;
	x->enabled = x->awaits = x->parked = x->passed = x->pends = x->await_call = x->agent = 0;
	x->place = NONE;
	x->steps = x->children = x->yields = 0;
	x->last = x->cause = x->cursor = NONE;
	s->n_live++;
	if (s->n_live > s->st.max_threads)
		s->st.max_threads = s->n_live;
}

static uint32_t new_id(struct sched *s, uint32_t parent, uint32_t ordinal)
{
	assert(s->n_ids <= s->o.max_threads && (parent == NONE || parent < s->n_ids));
	if (s->n_ids == s->o.max_threads)
		return NONE;
	uint32_t t = s->n_ids++;
	struct sched_thread *x = &s->th[t];
	x->parent = parent;
	x->ordinal = ordinal;
	x->first_child = x->sibling = NONE;
	x->life = LIFE_NONE;
	x->place = NONE;
	return t;
}

/* The child after `cursor` among parent's; made if there is none yet. */
static uint32_t child_id(struct sched *s, uint32_t parent)
{
	assert(parent < s->n_ids && s->th[parent].life == LIFE_LIVE);
	struct sched_thread *p = &s->th[parent];
	uint32_t *link = p->cursor == NONE ? &p->first_child : &s->th[p->cursor].sibling;
	if (*link == NONE) {
		uint32_t t = new_id(s, parent, p->children);
		if (t == NONE)
			return NONE;
		*link = t;
	}
	assert(s->th[*link].parent == parent && s->th[*link].ordinal == p->children);
	p->cursor = *link;
	p->children++;
	return p->cursor;
}

uint32_t sched_thread(struct sched *s, uint32_t parent, uint64_t pc)
{
	SCHED_ASSERT(s->in_run && s->n && s->ev[s->n - 1].op.kind == SCHED_CREATE);
	uint32_t t = child_id(s, parent);
	if (t == NONE)
		return SCHED_NOBODY;
	thread_reset(s, t);
	struct sched_thread *x = &s->th[t];
	s->ev[s->n - 1].op.a = t;
	x->op = (struct sched_op){ .a = t, .pc = pc, .kind = SCHED_START };
	x->cause = s->n - 1;
	x->enabled = x->pends = 1;
	sample_thread(s, t);
	thread_ready(s, t);
	return t;
}

uint32_t sched_agent(struct sched *s, uint32_t owner)
{
	SCHED_ASSERT(s->in_run);
	uint32_t t = child_id(s, owner), most = s->st.max_threads;
	if (t == NONE)
		return SCHED_NOBODY;
	thread_reset(s, t);
	s->st.max_threads = most;
	s->th[t].agent = 1;
	sample_thread(s, t);
	return t;
}

void sched_thread_origin(const struct sched *s, uint32_t t, uint32_t *parent, uint32_t *ordinal)
{
	SCHED_ASSERT(t < s->n_ids);
	*parent = s->th[t].parent;
	*ordinal = s->th[t].ordinal;
}

uint32_t sched_thread_count(const struct sched *s)
{
	return s->n_ids;
}

/* --- what came of it ------------------------------------------------------ */

void sched_result(struct sched *s, uint32_t flags, uint32_t value)
{
	SCHED_ASSERT(s->n);
	struct sched_event *e = &s->ev[s->n - 1];
	e->result = (uint16_t)flags;
	if (e->op.kind == SCHED_INIT || (e->op.kind >= SCHED_SEM_WAIT && e->op.kind <= SCHED_SEM_VALUE))
		e->value = value;
	if (flags & SCHED_RES_PASSED)
		e->op.flags |= SCHED_PASSED;
}

uint32_t sched_choose(struct sched *s, uint32_t n)
{
	SCHED_ASSERT(s->n && n && n <= SCHED_CHOICES_MAX && !s->choice_made);
	uint32_t c = 0;
	struct sched_event *e = &s->ev[s->n - 1];
	switch (s->strategy) {
	case SCHED_DELAY:
	case SCHED_PREEMPT:
	case SCHED_ALL:
		c = bounded_choose(s, n);
		break;
	case SCHED_DPOR:
		c = dpor_choose(s, n);
		break;
	case SCHED_REPLAY:
		c = replay_choose(s, n);
		break;
	case SCHED_GUIDE:
		c = guide_choose(s, n);
		break;
	default:
		c = rnd_below(s, n);
	}
	SCHED_ASSERT(c < n);
	e->choice = (uint8_t)c;
	e->choices = (uint8_t)n;
	s->choice_made = true;
	return c;
}

void sched_caused(struct sched *s, uint32_t u)
{
	assert(u < s->n_ids);
	SCHED_ASSERT(s->n);
	s->th[u].cause = s->n - 1;
	if (s->th[u].parked)
		thread_unpark(s, u, PARK_LATE);
}

/* --- runs ---------------------------------------------------------------- */

static uint32_t strategy_of_run(struct sched *s)
{
	assert(s->o.strategy <= SCHED_GUIDE);
	if (s->o.strategy != SCHED_MIX)
		return s->o.strategy;
	uint64_t r = s->st.runs;
	return r % 16 == 15 ? SCHED_RANDOM : r % 2 ? SCHED_PCT : SCHED_POS;
}

void sched_run_begin(struct sched *s)
{
	SCHED_ASSERT(!s->in_run);
	/* seeds are disjoint by shard and run, so a run can be repeated alone */
	s->rng = sched_mix64(s->o.seed + 0x9e3779b97f4a7c15u * (s->st.runs * s->o.shards + s->o.shard + 1));
	s->strategy = strategy_of_run(s);
	s->ranked = s->strategy == SCHED_PCT || s->strategy == SCHED_POS;
	s->top = NONE;
	s->n = s->settled = s->switches = s->preemptions = s->row = 0;
	s->n_awaiting = s->n_parked = s->n_yielded = 0;
	s->stop = SCHED_STOP_NOT;
	s->current = 0;
	s->settles = s->strategy == SCHED_DPOR;
	s->replay.diff.what = SCHED_SAME;
	s->prefix = 0;
	for (uint32_t i = 0; i < s->n_ids; i++) {
		s->th[i].life = LIFE_NONE;
		s->th[i].place = NONE;
	}
	for (uint32_t i = 0; i < s->words; i++)
		s->ready[i] = 0;
	for (uint32_t i = 0; s->ranked && i < s->n_ids; i++) {
		s->rank[i] = 0;
		s->granule[i] = GRANULE_NONE;
	}
	s->n_ready = s->n_live = 0;
	thread_reset(s, 0);
	s->in_run = true;
	fair_begin(s);
	if (s->strategy <= SCHED_POS)
		sample_begin(s);
	else if (has_bounded(s))
		bounded_begin(s);
	s->guide.at = 0;
	sample_thread(s, 0);
	s->th[0].enabled = 1;
	thread_ready(s, 0);
}

static void count_run(struct sched *s, enum sched_outcome outcome)
{
	assert(s->n <= s->o.max_steps && s->preemptions <= s->switches);
	struct sched_stats *st = &s->st;
	st->points += s->n;
	st->switches += s->switches;
	st->preemptions += s->preemptions;
	if (s->n > st->max_points)
		st->max_points = s->n;
	st->complete += outcome == SCHED_FINE || outcome == SCHED_BUG;
	st->cut += s->stop == SCHED_STOP_STEPS || (outcome == SCHED_CUT && !s->stop);
	st->bugs += outcome == SCHED_BUG;
	/* PCT's k: the longest recent one, with slow decay */
	uint32_t k = s->estimate - s->estimate / 16;
	s->estimate = s->n > k ? s->n : k;
}

enum sched_verdict sched_run_end(struct sched *s, enum sched_outcome outcome)
{
	SCHED_ASSERT(s->in_run);
	if (s->settles)
		settle(s);
	assert(s->n <= s->o.max_steps && s->settled <= s->n);
	s->in_run = false;
	s->st.runs++;
	/* a run that ends above the depth where shards part belongs to one of them */
	if (!s->stop && s->o.shards > 1 && s->prefix % s->o.shards != s->o.shard &&
	    ((has_bounded(s) && bounded_short(s)) || (s->strategy == SCHED_DPOR && s->n < s->o.split_depth)))
		s->stop = SCHED_STOP_SHARD;
	if ((s->stop && outcome == SCHED_FINE) || (s->stop == SCHED_STOP_SHARD && outcome == SCHED_BUG))
		outcome = SCHED_CUT;
	bool complete = outcome == SCHED_FINE || outcome == SCHED_BUG;
	if (outcome != SCHED_LOST) {
		count_run(s, outcome);
		if (s->cov)
			coverage_run(s, complete);
	}
	if (s->steer->now != NONE && s->steer->hit)
		s->steer->hits[s->steer->now]++;
	enum sched_verdict v = SCHED_GO_ON;
	if (s->strategy == SCHED_REPLAY)
		replay_end(s);
	else if (outcome == SCHED_LOST) { /* the same run again, for a systematic search */
		if (s->strategy == SCHED_DPOR)
			dpor_lost(s);
	} else if (has_bounded(s))
		v = bounded_next(s);
	else if (s->strategy == SCHED_DPOR)
		v = dpor_next(s, outcome);
	if (v == SCHED_EXHAUSTED)
		s->exhausted = true;
	if (v == SCHED_GO_ON && s->o.max_runs && s->st.runs >= s->o.max_runs)
		v = SCHED_LIMIT;
	return v;
}

void sched_restart(struct sched *s)
{
	SCHED_ASSERT(!s->in_run);
	s->st.restarts++;
	s->exhausted = false;
	if (has_bounded(s))
		bounded_restart(s);
	else if (s->o.strategy == SCHED_DPOR)
		dpor_restart(s);
	if (s->cov)
		coverage_forget(s);
}

/* --- questions ------------------------------------------------------------ */

enum sched_stop sched_stop_reason(const struct sched *s)
{
	return s->stop;
}

const struct sched_event *sched_events(const struct sched *s, uint32_t *n)
{
	*n = s->n;
	return s->ev;
}

uint32_t sched_preemptions(const struct sched *s, uint32_t *switches)
{
	if (switches)
		*switches = s->switches;
	return s->preemptions;
}

bool sched_awaiting(const struct sched *s, uint32_t t)
{
	return t < s->n_ids && s->th[t].life == LIFE_LIVE && s->th[t].awaits;
}

const struct sched_divergence *sched_divergence(const struct sched *s)
{
	return &s->replay.diff;
}
