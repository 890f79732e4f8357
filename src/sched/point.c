/*
 * point: the path that every point takes: which threads are ready, the
 * strategies that draw a schedule, the record. One file, so that the compiler
 * sees all of it.
 *
 * Random walk: uniform among the ready threads at each point.
 *
 * PCT (Burckhardt et al., ASPLOS 2010): each thread has a random priority, the
 * highest ready one runs; at d - 1 random points of the k of a run the running
 * thread falls below all. A bug of depth d is found with probability at least
 * 1 / (n k^(d-1)). k is the longest recent run (session.c). A thread that
 * yields, or runs fair_steps points in a row, falls below all as well: without
 * that a spinning thread of high priority never ends.
 *
 * POS (Yuan, Yang, Gu, CAV 2018): each pending operation has a random
 * priority, the highest runs, and the priorities of pending operations that
 * depend on it are drawn again: partial orders are sampled more evenly than by
 * priorities of threads.
 */
#include "base/invariant.h"
#include "sched/session.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* --- ready ---------------------------------------------------------------- */

/* normal ones from 2^23 to 2^24, PCT's change points at 2^22, the lowered below */
static const float LOWERED = 1 << 22;

enum { FEW = 6 }; /* ready threads: all are compared */

static inline float random_priority(struct sched *s)
{
	return (float)((uint32_t)(rnd(s) >> 41) | 1u << 23);
}

static inline uint32_t granule_of(const struct sched_op *op)
{
	if (op->b || op->kind == SCHED_PROCESS_EXIT || op->kind == SCHED_FENCE_SC || op->flags & SCHED_MANY ||
	    (op->size && (op->a ^ (op->a + op->size - 1)) >> 3))
		return GRANULE_WIDE;
	return (uint32_t)(op->a >> 3) | 4;
}

static inline void ready_add(struct sched *s, uint32_t t)
{
	assert(t < s->n_ids && s->th[t].place == NONE && s->n_ready < s->n_ids);
	s->ready[t >> 6] |= (uint64_t)1 << (t & 63);
	s->th[t].place = s->n_ready;
	s->dense[s->n_ready++] = t;
	if (s->ranked) {
		if (s->strategy == SCHED_POS) {
			s->priority[t] = random_priority(s);
			s->granule[t] = granule_of(&s->th[t].op);
		}
		s->rank[t] = s->priority[t];
		if (s->top != NONE && s->rank[t] > s->rank[s->top])
			s->top = t;
	}
}

static inline void ready_remove(struct sched *s, uint32_t t)
{
	assert(s->n_ready && s->th[t].place < s->n_ready && s->dense[s->th[t].place] == t);
	s->ready[t >> 6] &= ~((uint64_t)1 << (t & 63));
	uint32_t at = s->th[t].place, last = s->dense[--s->n_ready];
	s->dense[at] = last;
	s->th[last].place = at;
	s->th[t].place = NONE;
	if (s->ranked) {
		s->rank[t] = 0;
		s->granule[t] = GRANULE_NONE;
		if (s->top == t)
			s->top = NONE;
	}
}

void thread_ready(struct sched *s, uint32_t t)
{
	const struct sched_thread *x = &s->th[t];
	assert(t < s->n_ids && s->n_ready <= s->n_live);
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
	assert(why && s->n_parked <= s->n_ids);
	struct sched_thread *x = &s->th[t];
	s->n_parked += !x->parked;
	x->parked |= why;
	s->settles = true;
	thread_ready(s, t);
}

void thread_unpark(struct sched *s, uint32_t t, uint8_t why)
{
	assert(t < s->n_ids && why);
	struct sched_thread *x = &s->th[t];
	if (!(x->parked & why))
		return;
	x->parked &= (uint8_t)~why;
	assert(s->n_parked);
	s->n_parked -= !x->parked;
	thread_ready(s, t);
}

uint32_t ready_from(const struct sched *s, uint32_t t)
{
	assert(s->n_ids && s->n_ids <= s->o.max_threads);
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

void sched_enable(struct sched *s, uint32_t u)
{
	assert(u < s->n_ids && s->th[u].life == LIFE_LIVE);
	struct sched_thread *x = &s->th[u];
	if (!x->enabled || x->parked) {
		x->enabled = 1;
		thread_unpark(s, u, PARK_LATE);
		thread_ready(s, u);
	}
}

void sched_disable(struct sched *s, uint32_t u)
{
	assert(u < s->n_ids && s->th[u].life == LIFE_LIVE);
	struct sched_thread *x = &s->th[u];
	if (x->enabled) {
		x->enabled = 0;
		thread_ready(s, u);
	}
}

/* --- priorities ------------------------------------------------------------ */

float lower_than_all(struct sched *s)
{
	s->lowest = s->lowest > 2 ? s->lowest - 1 : LOWERED - 1; /* once in four million */
	return s->lowest;
}

static inline void rank_thread(struct sched *s, uint32_t t, float p)
{
	assert(t < s->o.max_threads);
	s->priority[t] = p;
	if (s->th[t].place == NONE)
		return;
	s->rank[t] = p;
	if (s->top == t)
		s->top = NONE; /* it may be another now */
	else if (s->top != NONE && p > s->rank[s->top])
		s->top = t;
}

void set_priority(struct sched *s, uint32_t t, float p)
{
	rank_thread(s, t, p);
}

/* The highest rank; some thread is ready. Few are compared one by one. */
static inline uint32_t find_top(const struct sched *s)
{
	assert(s->n_ready);
	uint32_t top = s->dense[0], n = s->n_ready;
#ifdef __SSE2__
	if (n > FEW) {
		uint32_t groups = (s->n_ids + 3) / 4, i = 0, hit;
		__m128 best = _mm_load_ps(s->rank);
		for (uint32_t k = 1; k < groups; k++)
			best = _mm_max_ps(best, _mm_load_ps(s->rank + 4 * k));
		best = _mm_max_ps(best, _mm_shuffle_ps(best, best, _MM_SHUFFLE(1, 0, 3, 2)));
		best = _mm_max_ps(best, _mm_shuffle_ps(best, best, _MM_SHUFFLE(2, 3, 0, 1)));
		while (!(hit = (uint32_t)_mm_movemask_ps(_mm_cmpeq_ps(best, _mm_load_ps(s->rank + i)))))
			i += 4;
		return i + (uint32_t)__builtin_ctz(hit);
	}
#endif
	/* Positive floats are ordered as their bits; the greatest without a branch. */
	const uint32_t *bits = (const uint32_t *)(const void *)s->rank;
	uint64_t best = (uint64_t)bits[top] << 32 | top;
	for (uint32_t i = 1; i < n; i++) {
		uint64_t x = (uint64_t)bits[s->dense[i]] << 32 | s->dense[i];
		best = x > best ? x : best;
	}
	return (uint32_t)best;
}

static inline uint32_t highest(struct sched *s)
{
	if (s->top == NONE)
		s->top = find_top(s);
	return s->top;
}

static uint32_t pct_depth(const struct sched *s)
{
	assert(s->o.depth && s->o.depth <= CHANGES_MAX);
	/* the mix: mostly d = 3 and 2; 1 preempts no thread, so that a thread that spins a little and then
	 * waits comes to wait before the others go on */
	static const uint8_t mixed[8] = { 3, 2, 3, 1, 3, 2, 4, 5 };
	return s->o.strategy == SCHED_MIX ? mixed[s->st.runs / 2 % 8] : s->o.depth;
}

void sample_begin(struct sched *s)
{
	s->lowest = LOWERED;
	s->n_changes = s->next_change = 0;
	if (s->strategy != SCHED_PCT)
		return;
	uint32_t d = pct_depth(s);
	for (uint32_t i = 0; i + 1 < d; i++) {
		/* insertion into the sorted list */
		uint32_t c = rnd_below(s, s->estimate) + 1, j = s->n_changes++;
		for (; j && s->change[j - 1] > c; j--)
			s->change[j] = s->change[j - 1];
		s->change[j] = c;
	}
}

void sample_thread(struct sched *s, uint32_t t)
{
	assert(t < s->o.max_threads);
	s->granule[t] = GRANULE_NONE;
	if (s->ranked)
		rank_thread(s, t, random_priority(s));
}

/* --- picks ------------------------------------------------------------------ */

static inline uint32_t pick_pct(struct sched *s)
{
	assert(s->next_change <= s->n_changes);
	uint32_t t = highest(s);
	while (UNLIKELY(s->next_change < s->n_changes && s->change[s->next_change] <= s->n)) {
		rank_thread(s, t, LOWERED + (float)(s->n_changes - s->next_change++));
		t = highest(s);
	}
	if (UNLIKELY(t == s->current && ++s->row > s->o.fair_steps && s->n_ready > 1)) {
		rank_thread(s, t, lower_than_all(s));
		s->row = 0;
		t = highest(s);
	}
	return t;
}

/* The pending operation of u, which is ready, if it depends on op. Of the one that is picked, too:
 * it is drawn anyway at its next point. The highest is not known any more. */
static inline void draw_again(struct sched *s, const struct sched_op *op, uint32_t u)
{
	const struct sched_op *its = &s->th[u].op;
	bool both_write = op->kind == SCHED_RMW && its->kind == SCHED_RMW && op->a == its->a; /* quickly: the usual case */
	/* what this disables is drawn again when it is enabled */
	if (both_write || (!(op->kind == SCHED_LOCK && its->kind == SCHED_LOCK) && sched_op_dependent(op, its)))
		s->rank[u] = s->priority[u] = random_priority(s);
}

static inline uint32_t pick_pos(struct sched *s)
{
	uint32_t t = highest(s), g = s->granule[t], n = s->n_ids, u = 0;
	const struct sched_op *op = &s->th[t].op;
	if (g == GRANULE_NONE)
		return t;
	if (UNLIKELY(g == GRANULE_WIDE)) {
		for (uint32_t i = 0; i < s->n_ready; i++)
			draw_again(s, op, s->dense[i]);
		s->top = NONE;
		return t;
	}
	if (s->n_ready <= FEW) {
		for (uint32_t i = 0; i < s->n_ready; i++) {
			u = s->dense[i];
			if ((s->granule[u] == g) | (s->granule[u] == GRANULE_WIDE))
				draw_again(s, op, u);
		}
		s->top = NONE;
		return t;
	}
	s->top = NONE;
#ifdef __SSE2__
	/* the array is padded: groups of 16 */
	const __m128i *r = (const __m128i *)(const void *)s->granule;
	__m128i mine = _mm_set1_epi32((int)g), wide = _mm_set1_epi32(GRANULE_WIDE);
	for (; u < n; u += 16, r += 4) {
		__m128i a = _mm_or_si128(_mm_cmpeq_epi32(r[0], mine), _mm_cmpeq_epi32(r[0], wide));
		__m128i b = _mm_or_si128(_mm_cmpeq_epi32(r[1], mine), _mm_cmpeq_epi32(r[1], wide));
		__m128i c = _mm_or_si128(_mm_cmpeq_epi32(r[2], mine), _mm_cmpeq_epi32(r[2], wide));
		__m128i d = _mm_or_si128(_mm_cmpeq_epi32(r[3], mine), _mm_cmpeq_epi32(r[3], wide));
		uint32_t hits = (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d)));
		for (; hits; hits &= hits - 1)
			draw_again(s, op, u + (uint32_t)__builtin_ctz(hits));
	}
#else
	for (; u < n; u++)
		if (s->granule[u] == g || s->granule[u] == GRANULE_WIDE)
			draw_again(s, op, u);
#endif
	return t;
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

/* --- the point --------------------------------------------------------------- */

uint32_t stop_run(struct sched *s, enum sched_stop why)
{
	assert(why != SCHED_STOP_NOT);
	if (!s->stop)
		s->stop = why;
	return SCHED_STOP;
}

/* What must be known of the events executed last before anything is picked. */
void settle(struct sched *s)
{
	if (!s->settles)
		s->settled = s->n; /* they were not requested */
	for (; s->settled < s->n; s->settled++) {
		const struct sched_event *e = &s->ev[s->settled];
		if (s->n_awaiting)
			await_settle(s, e);
		fair_executed(s, e);
		if (s->strategy == SCHED_DPOR)
			dpor_settle(s, s->settled);
	}
}

/* By words, as the user has written it just now: a load of two words that were stored one
 * by one has to wait until both have left for the cache. */
static inline void copy_op(struct sched_op *to, const struct sched_op *from)
{
	typedef uint64_t __attribute__((may_alias)) word;
	word *d = (word *)to;
	const word *s = (const word *)from;
	word a = s[0], b = s[1], c = s[2], e = s[3];
	__asm__("" : "+r"(a), "+r"(b), "+r"(c), "+r"(e));
	d[0] = a;
	d[1] = b;
	d[2] = c;
	d[3] = e;
}

static inline void record(struct sched *s, uint32_t t)
{
	assert(t < s->n_ids && s->n < s->o.max_steps && s->th[t].life == LIFE_LIVE && s->th[t].pends);
	assert(s->th[t].op.kind != SCHED_NONE && s->th[t].op.kind < SCHED_KINDS);
	struct sched_thread *x = &s->th[t];
	struct sched_event *e = &s->ev[s->n];
	copy_op(&e->op, &x->op);
	e->thread = t;
	e->value = x->cause;
	e->choice = e->choices = 0;
	e->result = 0;
	e->enabled = s->n_ready;
	x->last = s->n++;
	x->steps++;
	x->pends = 0;
	s->choice_made = false;
	/* Whether it goes on is a matter of chance: no branch. */
	const struct sched_thread *c = &s->th[s->current];
	uint32_t other = t != s->current;
	s->switches += other;
	s->preemptions += other & (c->life == LIFE_LIVE) & c->enabled & !c->awaits & !c->agent & (c->op.kind < SCHED_YIELD);
	s->current = t;
	s->row &= other - 1;
}

/* Each strategy that draws has its pick and record in one function. */
static SCHED_NOINLINE uint32_t go_pct(struct sched *s)
{
	uint32_t t = pick_pct(s);
	record(s, t);
	return t;
}

/* `at` has arrived at a point: its priority is drawn. NONE: no thread has. */
static SCHED_NOINLINE uint32_t go_pos(struct sched *s, uint32_t at)
{
	if (at != NONE && s->th[at].place != NONE) {
		s->granule[at] = granule_of(&s->th[at].op);
		if (s->n_ready <= FEW) {
			s->rank[at] = s->priority[at] = random_priority(s);
			s->top = NONE;
		} else {
			rank_thread(s, at, random_priority(s));
		}
	}
	uint32_t t = pick_pos(s);
	record(s, t);
	return t;
}

static SCHED_NOINLINE uint32_t go_random(struct sched *s)
{
	assert(s->n_ready);
	uint32_t t = s->n_ready == 1 ? s->dense[0] : s->dense[rnd_below(s, s->n_ready)];
	record(s, t);
	return t;
}

static SCHED_NOINLINE uint32_t go_systematic(struct sched *s)
{
	uint32_t t = pick_systematic(s);
	if (t < SCHED_STOP) {
		assert(is_ready(s, t));
		record(s, t);
	}
	return t;
}

static inline uint32_t go(struct sched *s, uint32_t at)
{
	switch (s->strategy) {
	case SCHED_PCT:
		return go_pct(s);
	case SCHED_POS:
		return go_pos(s, at);
	case SCHED_RANDOM:
		return go_random(s);
	default:
		return go_systematic(s);
	}
}

/* Something is unusual: parked or awaiting threads, an end, a limit. */
static SCHED_NOINLINE uint32_t pick_slow(struct sched *s, uint32_t at)
{
	if (s->settles) {
		settle(s);
		if (!s->n_ready && s->n_parked)
			fair_release(s);
	}
	if (s->stop)
		return SCHED_STOP;
	if (!s->n_ready)
		return SCHED_NOBODY;
	if (s->n >= s->o.max_steps)
		return stop_run(s, SCHED_STOP_STEPS);
	return go(s, at);
}

static inline bool is_unusual(const struct sched *s)
{
	return s->settles || s->stop || !s->n_ready || s->n >= s->o.max_steps;
}

static SCHED_NOINLINE uint32_t point_slow(struct sched *s, uint32_t t, bool enabled)
{
	struct sched_thread *x = &s->th[t];
	if (enabled != x->enabled) {
		x->enabled = enabled;
		thread_ready(s, t);
	}
	if (x->await_call)
		await_arrive(s, t);
	if (s->settles || x->op.kind >= SCHED_YIELD || x->op.kind == SCHED_PROCESS_EXIT ||
	    (x->op.flags & (SCHED_TIMED | SCHED_SPURIOUS))) {
		settle(s);
		fair_arrive(s, t);
	}
	return pick_slow(s, t);
}

static inline uint32_t point(struct sched *s, uint32_t t, const struct sched_op *op, bool enabled, uint32_t cause)
{
	assert(s->in_run && t < s->n_ids && op->kind && op->kind < SCHED_KINDS);
	struct sched_thread *x = &s->th[t];
	SCHED_ASSERT(x->life == LIFE_LIVE);
	if (op != &x->op)
		copy_op(&x->op, op);
	x->pends = 1;
	x->cause = cause;
	if (UNLIKELY(enabled != x->enabled || x->await_call || is_unusual(s) || op->kind >= SCHED_YIELD ||
	             op->kind == SCHED_PROCESS_EXIT || (op->flags & (SCHED_TIMED | SCHED_SPURIOUS))))
		return point_slow(s, t, enabled);
	return go(s, t);
}

uint32_t sched_point(struct sched *s, uint32_t t, const struct sched_op *op, bool enabled)
{
	return point(s, t, op, enabled, NONE);
}

uint32_t sched_point_after(struct sched *s, uint32_t t, const struct sched_op *op, uint32_t cause)
{
	assert(cause < s->n && op->kind == SCHED_DRAIN);
	return point(s, t, op, true, cause);
}

/* --- agents ------------------------------------------------------------------ */

void sched_agent_pend(struct sched *s, uint32_t t, const struct sched_op *op, uint32_t cause)
{
	assert(t < s->n_ids && s->th[t].agent && !s->th[t].pends && op->kind == SCHED_FLUSH && cause < s->n);
	struct sched_thread *x = &s->th[t];
	copy_op(&x->op, op);
	x->cause = cause;
	x->enabled = x->pends = 1;
	thread_ready(s, t);
}

uint32_t sched_agent_point(struct sched *s, uint32_t t)
{
	assert(t < s->n_ids && s->th[t].agent);
	struct sched_thread *x = &s->th[t];
	if (!x->pends) {
		x->enabled = 0;
		thread_ready(s, t);
	}
	return UNLIKELY(is_unusual(s)) ? pick_slow(s, x->pends ? t : NONE) : go(s, x->pends ? t : NONE);
}

struct sched_op *sched_op_at(struct sched *s, uint32_t t)
{
	SCHED_ASSERT(t < s->o.max_threads);
	return &s->th[t].op;
}

uint32_t sched_gone(struct sched *s, uint32_t t)
{
	assert(t < s->n_ids && s->n_live);
	struct sched_thread *x = &s->th[t];
	SCHED_ASSERT(x->life == LIFE_LIVE && x->last != NONE && s->ev[x->last].op.kind == SCHED_EXIT);
	x->life = LIFE_GONE;
	x->op.kind = SCHED_NONE;
	x->enabled = 0;
	s->granule[t] = GRANULE_NONE;
	thread_ready(s, t);
	s->n_live--;
	return UNLIKELY(is_unusual(s)) ? pick_slow(s, NONE) : go(s, NONE);
}
