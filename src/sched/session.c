/*
 * session: memory, threads, the point, the record. See sched.h for what is
 * promised and session.h for the representation.
 */
#include "sched/session.h"

/* --- memory -------------------------------------------------------------- */

void *layout_take(struct layout *l, size_t count, size_t each, bool clear)
{
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
	s->size = 2;
	uint32_t leaves = 2;
	while (leaves < t)
		leaves *= 2;
	s->words = (t + 63) / 64;
	s->th = layout_take(l, t, sizeof *s->th, true);
	s->ready = layout_take(l, s->words, sizeof *s->ready, true);
	s->tour = layout_take(l, 2 * (size_t)leaves, sizeof *s->tour, true);
	s->dense = layout_take(l, t, sizeof *s->dense, false);
	s->awaiting = layout_take(l, t, sizeof *s->awaiting, false);
	s->yielded = layout_take(l, t, sizeof *s->yielded, false);
	s->bucket = layout_take(l, BUCKETS, sizeof *s->bucket, false);
	s->steer = layout_take(l, 1, sizeof *s->steer, true);
	s->ev = layout_take(l, (size_t)s->o.max_steps + 1, sizeof *s->ev, false);
	s->marks_max = s->o.max_steps / 4 + 16;
	s->mark = layout_take(l, s->marks_max, sizeof *s->mark, false);
	if (has_bounded(s))
		bounded_layout(s, l);
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
		*good = fixed + ((size_t)64 << 20);
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

/* --- ready --------------------------------------------------------------- */

static inline void tour_set(struct sched *s, uint32_t t, uint64_t key)
{
	uint64_t *tour = s->tour;
	uint32_t i = s->size + t;
	tour[i] = key;
	while (i > 1) {
		uint64_t a = tour[i], b = tour[i ^ 1], m = a > b ? a : b;
		i >>= 1;
		if (tour[i] == m)
			return;
		tour[i] = m;
	}
}

void set_key(struct sched *s, uint32_t t, uint64_t priority)
{
	s->th[t].key = priority << 16 | t;
	if (s->th[t].place != NONE)
		tour_set(s, t, s->th[t].key);
}

static void ready_add(struct sched *s, uint32_t t)
{
	s->ready[t >> 6] |= (uint64_t)1 << (t & 63);
	s->th[t].place = s->n_ready;
	s->dense[s->n_ready++] = t;
	if (s->uses_keys)
		tour_set(s, t, s->th[t].key);
}

static void ready_remove(struct sched *s, uint32_t t)
{
	s->ready[t >> 6] &= ~((uint64_t)1 << (t & 63));
	uint32_t at = s->th[t].place, last = s->dense[--s->n_ready];
	s->dense[at] = last;
	s->th[last].place = at;
	s->th[t].place = NONE;
	if (s->uses_keys)
		tour_set(s, t, 0);
}

void thread_ready(struct sched *s, uint32_t t)
{
	const struct thread *x = &s->th[t];
	bool want = x->life == LIFE_LIVE && x->enabled && !x->awaits && !x->parked;
	if (want != (x->place != NONE)) {
		if (want)
			ready_add(s, t);
		else
			ready_remove(s, t);
	}
}

void thread_park(struct sched *s, uint32_t t, uint8_t why)
{
	struct thread *x = &s->th[t];
	s->n_parked += !x->parked;
	x->parked |= why;
	s->settles = true;
	thread_ready(s, t);
}

void thread_unpark(struct sched *s, uint32_t t, uint8_t why)
{
	struct thread *x = &s->th[t];
	if (!(x->parked & why))
		return;
	x->parked &= (uint8_t)~why;
	s->n_parked -= !x->parked;
	thread_ready(s, t);
}

uint32_t ready_from(const struct sched *s, uint32_t t)
{
	uint32_t words = (s->n_ids + 63) / 64, w = t >> 6;
	if (t >= s->n_ids)
		w = 0, t = 0;
	uint64_t bits = s->ready[w] & (~(uint64_t)0 << (t & 63));
	for (uint32_t i = 0; i <= words; i++) {
		if (bits)
			return w * 64 + (uint32_t)__builtin_ctzll(bits);
		w = w + 1 == words ? 0 : w + 1;
		bits = s->ready[w];
	}
	return NONE;
}

/* --- threads ------------------------------------------------------------- */

static void thread_reset(struct sched *s, uint32_t t)
{
	struct thread *x = &s->th[t];
	__builtin_memset(&x->op, 0, sizeof x->op);
	x->key = t;
	x->life = LIFE_LIVE;
	x->enabled = x->awaits = x->parked = x->passed = x->pends = x->await_call = 0;
	x->place = NONE;
	x->steps = x->children = x->n_ranges = 0;
	x->last = x->cause = x->cursor = x->bucket = NONE;
	s->n_live++;
	if (s->n_live > s->st.max_threads)
		s->st.max_threads = s->n_live;
}

/* A new id; the tournament doubles when its leaves are used up. */
static uint32_t new_id(struct sched *s, uint32_t parent, uint32_t ordinal)
{
	if (s->n_ids == s->o.max_threads)
		return NONE;
	uint32_t t = s->n_ids++;
	struct thread *x = &s->th[t];
	x->parent = parent;
	x->ordinal = ordinal;
	x->first_child = x->sibling = NONE;
	x->life = LIFE_NONE;
	x->place = NONE;
	if (t >= s->size) {
		s->size *= 2;
		__builtin_memset(s->tour, 0, 2 * (size_t)s->size * sizeof *s->tour);
		if (s->in_run && s->uses_keys)
			for (uint32_t i = 0; i < s->n_ready; i++)
				tour_set(s, s->dense[i], s->th[s->dense[i]].key);
	}
	return t;
}

/* The child after `cursor` among parent's; made if there is none yet. */
static uint32_t child_id(struct sched *s, uint32_t parent)
{
	struct thread *p = &s->th[parent];
	uint32_t *link = p->cursor == NONE ? &p->first_child : &s->th[p->cursor].sibling;
	if (*link == NONE) {
		uint32_t t = new_id(s, parent, p->children);
		if (t == NONE)
			return NONE;
		*link = t;
	}
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
	struct thread *x = &s->th[t];
	s->ev[s->n - 1].op.a = t;
	x->op = (struct sched_op){ .a = t, .pc = pc, .kind = SCHED_START };
	x->cause = s->n - 1;
	x->enabled = x->pends = 1;
	sample_thread(s, t);
	thread_ready(s, t);
	if (s->uses_index && x->bucket == NONE)
		index_add(s, t);
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

/* --- the point ----------------------------------------------------------- */

uint32_t stop_run(struct sched *s, enum sched_stop why)
{
	if (!s->stop)
		s->stop = why;
	return SCHED_STOP;
}

/* What must be known of the event executed last before anything is picked. */
static void settle(struct sched *s)
{
	if (!s->settles)
		s->settled = s->n; /* nobody wanted to see them */
	for (; s->settled < s->n; s->settled++) {
		const struct sched_event *e = &s->ev[s->settled];
		if (s->n_awaiting)
			await_settle(s, e);
		fair_executed(s, e);
		if (s->strategy == SCHED_DPOR)
			dpor_settle(s, s->settled);
	}
}

static uint32_t pick_systematic(struct sched *s)
{
	switch (s->strategy) {
	case SCHED_DELAY:
	case SCHED_PREEMPT:
	case SCHED_ALL:
		return bounded_pick(s);
	case SCHED_DPOR:
		return dpor_pick(s);
	case SCHED_REPLAY:
		return replay_pick(s);
	default:
		return guide_pick(s);
	}
}

static inline void record(struct sched *s, uint32_t t)
{
	struct thread *x = &s->th[t];
	struct sched_event *e = &s->ev[s->n];
	e->op = x->op;
	e->thread = t;
	e->value = x->cause;
	e->choice = e->choices = 0;
	e->result = 0;
	e->enabled = s->n_ready;
	x->last = s->n++;
	x->steps++;
	x->pends = 0;
	s->choice_made = false;
	if (t != s->current) {
		const struct thread *c = &s->th[s->current];
		s->switches++;
		s->preemptions += c->life == LIFE_LIVE && c->enabled && !c->awaits && c->op.kind < SCHED_YIELD;
		s->current = t;
		s->row = 0;
	}
}

static uint32_t pick(struct sched *s)
{
	if (UNLIKELY(s->settles)) {
		settle(s);
		if (!s->n_ready && s->n_parked)
			fair_release(s);
	}
	if (UNLIKELY(s->stop))
		return SCHED_STOP;
	if (UNLIKELY(!s->n_ready))
		return SCHED_NOBODY;
	if (UNLIKELY(s->n >= s->o.max_steps))
		return stop_run(s, SCHED_STOP_STEPS);
	uint32_t t = s->strategy <= SCHED_POS ? sample_pick(s) : pick_systematic(s);
	if (UNLIKELY(t >= SCHED_STOP))
		return t;
	record(s, t);
	return t;
}

uint32_t sched_point(struct sched *s, uint32_t t, const struct sched_op *op, bool enabled)
{
	struct thread *x = &s->th[t];
	SCHED_ASSERT(x->life == LIFE_LIVE);
	if (UNLIKELY(s->uses_index))
		index_remove(s, t);
	x->op = *op;
	x->pends = 1;
	x->cause = NONE;
	if (UNLIKELY(enabled != x->enabled)) {
		x->enabled = enabled;
		thread_ready(s, t);
	}
	if (UNLIKELY(x->await_call))
		await_arrive(s, t);
	if (UNLIKELY(s->uses_index))
		index_add(s, t);
	if (s->strategy == SCHED_POS)
		sample_arrive(s, t);
	if (UNLIKELY(s->settles || op->kind >= SCHED_YIELD || op->kind == SCHED_PROCESS_EXIT ||
	             (op->flags & (SCHED_TIMED | SCHED_SPURIOUS)))) {
		settle(s);
		fair_arrive(s, t);
	}
	return pick(s);
}

uint32_t sched_gone(struct sched *s, uint32_t t)
{
	struct thread *x = &s->th[t];
	SCHED_ASSERT(x->life == LIFE_LIVE && x->last != NONE && s->ev[x->last].op.kind == SCHED_EXIT);
	if (s->uses_index)
		index_remove(s, t);
	x->life = LIFE_GONE;
	x->op.kind = SCHED_NONE;
	x->enabled = 0;
	thread_ready(s, t);
	s->n_live--;
	return pick(s);
}

void sched_enable(struct sched *s, uint32_t u)
{
	struct thread *x = &s->th[u];
	if (!x->enabled || x->parked) {
		x->enabled = 1;
		thread_unpark(s, u, PARK_LATE);
		thread_ready(s, u);
	}
}

void sched_disable(struct sched *s, uint32_t u)
{
	struct thread *x = &s->th[u];
	if (x->enabled) {
		x->enabled = 0;
		thread_ready(s, u);
	}
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
	SCHED_ASSERT(s->n);
	s->th[u].cause = s->n - 1;
	if (s->th[u].parked)
		thread_unpark(s, u, PARK_LATE);
}

void sched_note(struct sched *s, uint32_t t, const struct sched_op *op)
{
	if (s->n_marks == s->marks_max) {
		s->marks_lost++;
		return;
	}
	s->mark[s->n_marks++] = (struct sched_mark){ .op = *op, .thread = t, .at = s->n };
}

/* --- runs ---------------------------------------------------------------- */

static uint32_t strategy_of_run(struct sched *s)
{
	if (s->o.strategy != SCHED_MIX)
		return s->o.strategy;
	uint64_t r = s->st.runs;
	return r % 16 == 15 ? SCHED_RANDOM : r % 2 ? SCHED_PCT : SCHED_POS;
}

void sched_run_begin(struct sched *s)
{
	SCHED_ASSERT(!s->in_run);
	/* seeds are disjoint by shard and run, so a run can be repeated alone */
	s->rng = mix64(s->o.seed + 0x9e3779b97f4a7c15u * (s->st.runs * s->o.shards + s->o.shard + 1));
	s->strategy = strategy_of_run(s);
	s->uses_keys = s->strategy == SCHED_PCT || s->strategy == SCHED_POS;
	s->n = s->settled = s->switches = s->preemptions = s->row = 0;
	s->n_awaiting = s->n_parked = s->n_yielded = s->n_marks = s->marks_lost = 0;
	s->stop = SCHED_STOP_NOT;
	s->current = 0;
	s->settles = s->strategy == SCHED_DPOR;
	s->replay.diff.what = SCHED_SAME;
	for (uint32_t i = 0; i < s->n_ids; i++) {
		s->th[i].life = LIFE_NONE;
		s->th[i].place = NONE;
	}
	for (uint32_t i = 0; i < s->words; i++)
		s->ready[i] = 0;
	if (s->uses_keys)
		__builtin_memset(s->tour, 0, 2 * (size_t)s->size * sizeof *s->tour);
	s->n_ready = s->n_live = 0;
	index_reset(s);
	thread_reset(s, 0);
	s->in_run = true;
	fair_begin(s);
	if (s->strategy <= SCHED_POS)
		sample_begin(s);
	else if (has_bounded(s))
		bounded_begin(s);
	else if (s->strategy == SCHED_DPOR)
		dpor_begin(s);
	s->guide.at = 0;
	sample_thread(s, 0);
	s->th[0].enabled = 1;
	thread_ready(s, 0);
}

static void count_run(struct sched *s, enum sched_outcome outcome)
{
	struct sched_stats *st = &s->st;
	st->points += s->n;
	st->switches += s->switches;
	st->preemptions += s->preemptions;
	if (s->n > st->max_points)
		st->max_points = s->n;
	st->complete += outcome == SCHED_FINE || outcome == SCHED_BUG;
	st->cut += s->stop == SCHED_STOP_STEPS || (outcome == SCHED_CUT && !s->stop);
	st->bugs += outcome == SCHED_BUG;
	/* PCT's k: the longest of late, forgotten slowly */
	uint32_t k = s->estimate - s->estimate / 16;
	s->estimate = s->n > k ? s->n : k;
}

enum sched_verdict sched_run_end(struct sched *s, enum sched_outcome outcome)
{
	SCHED_ASSERT(s->in_run);
	if (s->settles)
		settle(s);
	s->in_run = false;
	s->st.runs++;
	if (s->stop && outcome == SCHED_FINE)
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
	else if (outcome == SCHED_LOST)
		v = SCHED_GO_ON; /* the same run again, for a systematic search */
	else if (has_bounded(s))
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

const struct sched_mark *sched_marks(const struct sched *s, uint32_t *n, uint32_t *lost)
{
	*n = s->n_marks;
	*lost = s->marks_lost;
	return s->mark;
}

const struct sched_op *sched_pending(const struct sched *s, uint32_t t)
{
	static const struct sched_op gone;
	SCHED_ASSERT(t < s->n_ids);
	return s->th[t].life == LIFE_LIVE && s->th[t].pends ? &s->th[t].op : &gone;
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
