/*
 * minimize: see minimize.h. Proposals come in rounds over the segments of the
 * best run: first chunks of segments are dropped, halving their length down to
 * one (Zeller and Hildebrandt's delta debugging), then single segments are
 * dropped, extended over the thread's next one or to where the thread waits or
 * ends, until a whole round finds nothing, then segments change places and pairs of changes are tried when there
 * are few, then single choices by value go back to 0.
 */
#include "base/invariant.h"
#include "sched/minimize.h"
#include "sched/session.h"

enum stage { STAGE_SAME, STAGE_CHUNKS, STAGE_SINGLES, STAGE_MOVES, STAGE_PAIRS, STAGE_CHOICES, STAGE_DONE };
enum { FEW_SEGMENTS = 24 }; /* moves and pairs are tried below this */
enum { CHANGES = 3 };       /* of a segment: see change() */

struct cost {
	uint32_t preemptions, steps, switches, choices;
};

struct minimize {
	struct sched_event *best;
	uint32_t n, max;
	struct cost cost;
	struct segment *seg, *candidate; /* of the best; proposed */
	uint32_t n_seg, n_candidate;
	struct guide_choice *choice, *proposed;
	uint32_t n_choice, n_proposed;
	enum stage stage;
	uint32_t at, length; /* position in the stage; length of chunks */
	bool gained;         /* this round found something */
	uint32_t tried, budget;
	bool running;
};

size_t minimize_memory(uint32_t n)
{
	return sizeof(struct minimize) +
	       ((size_t)n * 4 + 16) * (sizeof(struct sched_event) + 2 * sizeof(struct segment) + 2 * sizeof(struct guide_choice)) +
	       4096;
}

static bool less(const struct cost *a, const struct cost *b)
{
	if (a->preemptions != b->preemptions)
		return a->preemptions < b->preemptions;
	if (a->steps != b->steps)
		return a->steps < b->steps;
	if (a->switches != b->switches)
		return a->switches < b->switches;
	return a->choices < b->choices;
}

/* The best run's segments and choices that are not 0. */
static void cut_up(struct minimize *m)
{
	/* a thread's operations so far: kept in the candidate array's place */
	assert(m->n <= m->max);
	m->n_seg = m->n_choice = 0;
	for (uint32_t i = 0; i < m->n; i++) {
		const struct sched_event *e = &m->best[i];
		uint32_t t = e->thread, done = 1;
		for (uint32_t j = m->n_seg; j-- > 0;)
			if (m->seg[j].thread == t) {
				done = m->seg[j].until + 1;
				break;
			}
		if (m->n_seg && m->seg[m->n_seg - 1].thread == t)
			m->seg[m->n_seg - 1].until = done;
		else
			m->seg[m->n_seg++] = (struct segment){ t, done };
		if (e->choice)
			m->choice[m->n_choice++] = (struct guide_choice){ t, done - 1, e->choice };
	}
}

struct minimize *minimize_begin(void *memory, size_t bytes, const struct sched_event *e, uint32_t n, uint32_t budget)
{
	if (bytes < minimize_memory(n))
		return NULL;
	struct layout l = { .at = memory, .end = (char *)memory + bytes, .fits = true };
	struct minimize *m = layout_take(&l, 1, sizeof *m, true);
	m->max = n * 4 + 16; /* a candidate may run longer before it fails */
	m->best = layout_take(&l, m->max, sizeof *m->best, false);
	m->seg = layout_take(&l, m->max, sizeof *m->seg, false);
	m->candidate = layout_take(&l, m->max, sizeof *m->candidate, false);
	m->choice = layout_take(&l, m->max, sizeof *m->choice, false);
	m->proposed = layout_take(&l, m->max, sizeof *m->proposed, false);
	if (!l.fits)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		m->best[i] = e[i];
	m->n = n;
	m->cost = (struct cost){ NONE, NONE, NONE, NONE };
	m->budget = budget ? budget : 10000;
	cut_up(m);
	return m;
}

/* --- proposals ------------------------------------------------------------- */

static void propose_best(struct minimize *m)
{
	for (uint32_t i = 0; i < m->n_seg; i++)
		m->candidate[i] = m->seg[i];
	m->n_candidate = m->n_seg;
	for (uint32_t i = 0; i < m->n_choice; i++)
		m->proposed[i] = m->choice[i];
	m->n_proposed = m->n_choice;
}

static void drop(struct minimize *m, uint32_t from, uint32_t count)
{
	assert(from + count <= m->n_candidate);
	for (uint32_t i = from + count; i < m->n_candidate; i++)
		m->candidate[i - count] = m->candidate[i];
	m->n_candidate -= count;
}

/* Segment i goes on over the thread's next segment; false: there is none. */
static bool extend(struct minimize *m, uint32_t i)
{
	assert(i < m->n_candidate);
	for (uint32_t j = i + 1; j < m->n_candidate; j++)
		if (m->candidate[j].thread == m->candidate[i].thread) {
			m->candidate[i].until = m->candidate[j].until;
			drop(m, j, 1);
			return true;
		}
	return false;
}

/*
 * Segment i goes on until its thread waits or ends: the run failed before the
 * thread had come so far, so nothing in the list says how far that is.
 */
static bool run_on(struct minimize *m, uint32_t i)
{
	assert(i < m->n_candidate);
	if (i + 1 == m->n_candidate)
		return false; /* here the run fails */
	m->candidate[i].until = NONE;
	return true;
}

/* Change number k of the candidate: drop segment k / CHANGES, or extend it. */
static bool change(struct minimize *m, uint32_t k)
{
	uint32_t i = k / CHANGES;
	if (i >= m->n_candidate)
		return false;
	if (k % CHANGES == 1)
		return extend(m, i);
	if (k % CHANGES == 2)
		return run_on(m, i);
	drop(m, i, 1);
	return true;
}

/* Segment i comes to position j; what the thread did before still comes first. */
static bool move(struct minimize *m, uint32_t i, uint32_t j)
{
	assert(i < m->n_candidate && j <= m->n_candidate);
	if (i == j || i + 1 == j)
		return false; /* the neighbour's move the other way */
	struct segment x = m->candidate[i];
	drop(m, i, 1);
	for (uint32_t k = m->n_candidate++; k > j; k--)
		m->candidate[k] = m->candidate[k - 1];
	m->candidate[j] = x;
	return true;
}

static void enter(struct minimize *m, enum stage g)
{
	assert(g <= STAGE_DONE);
	m->stage = g;
	m->at = 0;
	m->gained = false;
	if (g == STAGE_CHUNKS)
		m->length = m->n_seg / 2;
}

enum proposal { PROPOSAL, NOTHING, STAGE_END };

/* Number `at` of the stage. */
static enum proposal propose(struct minimize *m)
{
	uint32_t k = m->at++, n = CHANGES * m->n_seg;
	propose_best(m);
	switch (m->stage) {
	case STAGE_SAME:
		return k == 0 ? PROPOSAL : STAGE_END;
	case STAGE_CHUNKS:
		if (m->length < 2)
			return STAGE_END;
		if (k * m->length >= m->n_seg) {
			m->length /= 2;
			m->at = 0;
			return NOTHING;
		}
		drop(m, k * m->length, m->length < m->n_seg - k * m->length ? m->length : m->n_seg - k * m->length);
		return PROPOSAL;
	case STAGE_SINGLES:
		if (k >= n && m->gained) {
			enter(m, STAGE_SINGLES);
			return NOTHING;
		}
		return k >= n ? STAGE_END : change(m, k) ? PROPOSAL : NOTHING;
	case STAGE_MOVES:
		if (m->n_seg > FEW_SEGMENTS || !m->cost.preemptions || k >= m->n_seg * m->n_seg)
			return STAGE_END;
		return move(m, k / m->n_seg, k % m->n_seg) ? PROPOSAL : NOTHING;
	case STAGE_PAIRS:
		if (m->n_seg > FEW_SEGMENTS || !m->cost.preemptions || k >= n * n)
			return STAGE_END;
		return change(m, k / n) && change(m, k % n) ? PROPOSAL : NOTHING;
	case STAGE_CHOICES:
		if (k >= m->n_choice)
			return STAGE_END;
		m->proposed[k] = m->proposed[--m->n_proposed];
		return PROPOSAL;
	default:
		return STAGE_END;
	}
}

bool minimize_next(struct minimize *m, struct sched *s)
{
	assert(m->tried <= m->budget);
	SCHED_ASSERT(!m->running);
	while (m->stage != STAGE_DONE && m->tried < m->budget) {
		enum proposal p = propose(m);
		if (p == NOTHING)
			continue;
		if (p == PROPOSAL) {
			m->running = true;
			m->tried++;
			sched_guide(s, m->candidate, m->n_candidate, m->proposed, m->n_proposed);
			return true;
		}
		if ((m->stage == STAGE_PAIRS || m->stage == STAGE_MOVES) && m->gained)
			enter(m, STAGE_SINGLES);
		else
			enter(m, m->stage + 1);
	}
	return false;
}

void minimize_result(struct minimize *m, const struct sched *s, bool failed)
{
	SCHED_ASSERT(m->running);
	m->running = false;
	uint32_t n, switches, preemptions = sched_preemptions(s, &switches);
	const struct sched_event *e = sched_events(s, &n);
	struct cost c = { preemptions, n, switches, 0 };
	for (uint32_t i = 0; i < n; i++)
		c.choices += e[i].choice != 0;
	if (!failed || n > m->max || !less(&c, &m->cost))
		return;
	for (uint32_t i = 0; i < n; i++)
		m->best[i] = e[i];
	m->n = n;
	m->cost = c;
	m->gained = true;
	cut_up(m);
	/* the position stays about where it was: what is before it did not help */
	if (m->at)
		m->at--;
	if (m->stage == STAGE_PAIRS || m->stage == STAGE_MOVES)
		m->at = 0;
}

const struct sched_event *minimize_best(const struct minimize *m, uint32_t *n)
{
	*n = m->n;
	return m->best;
}

uint32_t minimize_preemptions(const struct minimize *m)
{
	return m->cost.preemptions;
}

uint32_t minimize_tried(const struct minimize *m)
{
	return m->tried;
}
