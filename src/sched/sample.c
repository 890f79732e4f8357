/*
 * sample: the strategies that draw a schedule.
 *
 * Random walk: uniform among the ready threads at each point.
 *
 * PCT (Burckhardt et al., ASPLOS 2010): each thread has a random priority, the
 * highest ready one runs; at d - 1 random points of the k of a run the running
 * thread falls below all. A bug of depth d is found with probability at least
 * 1 / (n k^(d-1)). k is the longest run of late (session.c). A thread that
 * yields, or runs fair_steps points in a row, falls below all as well: without
 * that a spinning thread of high priority never ends.
 *
 * POS (Yuan, Yang, Gu, CAV 2018): each pending operation has a random
 * priority, the highest runs, and the priorities of pending operations that
 * depend on it are drawn again: partial orders are sampled more evenly than by
 * priorities of threads.
 */
#include "sched/session.h"

static const uint64_t PRIORITY_LOW = 1 << 20, PRIORITY_NORMAL = (uint64_t)1 << 40;

void sample_thread(struct sched *s, uint32_t t)
{
	if (!s->uses_keys)
		return;
	set_key(s, t, PRIORITY_NORMAL | rnd(s) >> 24);
	if (s->strategy == SCHED_POS && !s->uses_index && s->n_live > INDEX_FROM) {
		s->uses_index = true;
		for (uint32_t u = 0; u < s->n_ids; u++)
			if (u != t && s->th[u].life == LIFE_LIVE)
				index_add(s, u);
	}
}

static uint32_t pct_depth(struct sched *s)
{
	/* the mix: d = 3 half of the time, else 2, 4 or 5 */
	static const uint8_t mixed[8] = { 3, 2, 3, 4, 3, 2, 3, 5 };
	return s->o.strategy == SCHED_MIX ? mixed[s->st.runs / 2 % 8] : s->o.depth;
}

void sample_begin(struct sched *s)
{
	s->lowest = PRIORITY_LOW;
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

void sample_arrive(struct sched *s, uint32_t t)
{
	set_key(s, t, PRIORITY_NORMAL | rnd(s) >> 24);
}

static inline uint32_t highest(const struct sched *s)
{
	return (uint32_t)(s->tour[1] & 0xffff);
}

static uint32_t pick_pct(struct sched *s)
{
	uint32_t t = highest(s);
	while (UNLIKELY(s->next_change < s->n_changes && s->change[s->next_change] <= s->n)) {
		set_key(s, t, PRIORITY_LOW + s->n_changes - s->next_change++);
		t = highest(s);
	}
	if (UNLIKELY(t == s->current && ++s->row > s->o.fair_steps && s->n_ready > 1)) {
		set_key(s, t, --s->lowest);
		s->row = 0;
		t = highest(s);
	}
	return t;
}

static uint32_t pick_pos(struct sched *s)
{
	uint32_t t = highest(s);
	const struct sched_op *op = &s->th[t].op;
	if (LIKELY(!s->uses_index)) {
		for (uint32_t i = 0; i < s->n_ready; i++) {
			uint32_t u = s->dense[i];
			if (u != t && sched_op_dependent(op, &s->th[u].op))
				set_key(s, u, PRIORITY_NORMAL | rnd(s) >> 24);
		}
		return t;
	}
	uint32_t lists[INDEX_LISTS], n;
	n = index_lists(s, op, lists);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t u = lists[i]; u != NONE; u = s->th[u].next)
			if (u != t && sched_op_dependent(op, &s->th[u].op))
				set_key(s, u, PRIORITY_NORMAL | rnd(s) >> 24);
	return t;
}

uint32_t sample_pick(struct sched *s)
{
	switch (s->strategy) {
	case SCHED_PCT:
		return pick_pct(s);
	case SCHED_POS:
		return pick_pos(s);
	default:
		return s->n_ready == 1 ? s->dense[0] : s->dense[rnd_below(s, s->n_ready)];
	}
}
