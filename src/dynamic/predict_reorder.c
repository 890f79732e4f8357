/*
 * predict_reorder: feasible reorderings that break a block.
 *
 * For two accesses a1, a2 of one block and accesses r1, r2 (in this order, or
 * one and the same) of another thread such that a1 conflicts with r1 and r2
 * with a2, not recorded in the order a1 r1 r2 a2, look for a run that has
 * them so. a1 and a2 are neighbours on one variable (then r1 is r2), or near
 * each other on two (a view of both that no moment had).
 *
 *   all events that must come first, in recorded order;
 *   the other thread: from s, the outermost critical section around r1 (r1
 *     itself when it holds no lock), to f, after r2, where it has released
 *     what the block needs next;
 *   the block's thread: from g, the outermost critical section around a2 that
 *     was entered after a1, to a2.
 *
 * What must come first is the least set with the predecessors of g and s in their
 * threads that is closed: with a read comes the write it read, with an event of a
 * thread its fork, with a join all the thread did, and of two critical sections
 * of a lock the earlier one wholly (the closure of sync-preserving reordering,
 * POPL 2021: kept in recorded order it is feasible). When it holds g or s there
 * is no such run of this shape. The candidate is then judged by
 * verdict/verify_reorder.c alone, which makes the answer sound: reads before the
 * last events keep their values, locks are respected; and a1, r1, r2, a2 occur in
 * it in this order, a cycle between the block and the other thread.
 *
 * A fork in the block serves as a1 (r1 is then the first event of the thread), a
 * join for a2 (r2 is the last). Cycles of other shapes are left to
 * predict_search.c, for what is small.
 *
 * A window slides over the trace by halves; events before it are run as
 * recorded. Each pair of places in a block is looked at PAIR_TRIES times, each
 * combination of places tried TRIES times at most, with the NEAR nearest
 * accesses on either side, so the cost a window is bounded.
 */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "dynamic/predict_window.h"
#include "verdict/verify_reorder.h"

#define TRIES        6
#define PAIR_TRIES   24
#define NEAR         6
#define BACK         12   /* accesses looked back for the other variable */
#define FORKS_BACK   64   /* events looked back for a fork */
#define WALK_MAX     2000 /* events of a critical section walked over */
#define ATTEMPTS_MAX 400  /* closures a window */

/* ---- the closure -------------------------------------------------------- */

static void want(struct reorder *r, uint32_t i)
{
	assert(i == NO || i < r->n);
	if (i != NO && r->tpos[i] + 1 > r->target[r->tid[i]])
		r->target[r->tid[i]] = r->tpos[i] + 1;
}

/* What must come with event i. False: it cannot come at all. */
static bool include(struct reorder *r, uint32_t i)
{
	assert(i < r->n && r->tid[i] < r->nlocal);
	const struct event *e = &r->ev[i];
	uint32_t fork = r->forked_by[r->tid[i]];
	if (fork != NO && fork < i)
		want(r, fork);
	if (e->kind == EVENT_READ) {
		want(r, r->rf[i]);
	} else if (e->kind == EVENT_JOIN) {
		uint32_t c = r->threads[e->target].local1;
		if (!c)
			return true;
		const uint32_t *list = r->tev + r->tstart[c - 1];
		uint32_t n = r->tlen[c - 1];
		while (n && list[n - 1] > i)
			n--;
		if (n)
			want(r, list[n - 1]);
	} else if (e->kind == EVENT_ACQ) {
		uint32_t l = e->target, older = i;
		if (r->held[l] && r->held[l] != e->thread + 1) {
			if (r->lock_prerel[l] == NO)
				return false;
			want(r, r->lock_prerel[l]);
		}
		if (r->lock_stamp[l] != r->stamp) {
			r->lock_stamp[l] = r->stamp;
			r->lock_max[l] = i;
			return true;
		}
		if (r->lock_max[l] < i) {
			older = r->lock_max[l];
			r->lock_max[l] = i;
		}
		if (r->match[older] == NO)
			return false;
		want(r, r->match[older]);
	}
	return true;
}

/* Everything that must come before g and s; false when that holds one. */
static bool closure(struct reorder *r, uint32_t g, uint32_t s)
{
	assert(g < r->n && s < r->n && r->tid[g] != r->tid[s]);
	uint32_t tg = r->tid[g], ts = r->tid[s];
	memset(r->target, 0, r->nlocal * sizeof *r->target);
	memset(r->done, 0, r->nlocal * sizeof *r->done);
	r->stamp++;
	r->target[tg] = r->tpos[g];
	r->target[ts] = r->tpos[s];
	/* the last parts themselves need their forks */
	uint32_t fork = r->forked_by[tg];
	want(r, fork != NO && fork < g ? fork : NO);
	fork = r->forked_by[ts];
	want(r, fork != NO && fork < s ? fork : NO);
	for (bool more = true; more;) {
		more = false;
		for (uint32_t k = 0; k < r->nlocal; k++)
			while (r->done[k] < r->target[k]) {
				more = true;
				if (!include(r, r->tev[r->tstart[k] + r->done[k]++]))
					return false;
				if (r->target[tg] > r->tpos[g] || r->target[ts] > r->tpos[s])
					return false;
			}
	}
	return true;
}

/* ---- candidates --------------------------------------------------------- */

/* Where the block's last part starts: the oldest acquire after a1 that is
 * still held at a2. */
static uint32_t last_part(const struct reorder *r, uint32_t a1, uint32_t a2)
{
	assert(a1 < a2 && r->tid[a1] == r->tid[a2]);
	const uint32_t *list = r->tev + r->tstart[r->tid[a2]];
	uint32_t g = a2, walked = 0;
	for (uint32_t p = r->tpos[a2]; p-- > r->tpos[a1] + 1;) {
		uint32_t i = list[p];
		if (r->ev[i].kind == EVENT_ACQ && (r->match[i] == NO || r->match[i] > a2))
			g = i;
		if (++walked > WALK_MAX)
			return NO;
	}
	return g;
}

/* Does the thread of g take lock l between g and a2? */
static bool takes(const struct reorder *r, uint32_t g, uint32_t a2, uint32_t l)
{
	assert(r->tid[g] == r->tid[a2] && r->tpos[g] <= r->tpos[a2]);
	const uint32_t *list = r->tev + r->tstart[r->tid[a2]];
	for (uint32_t p = r->tpos[g]; p < r->tpos[a2]; p++)
		if (r->ev[list[p]].kind == EVENT_ACQ && r->ev[list[p]].target == l)
			return true;
	return false;
}

/* Where the other thread has released what g..a2 takes; NO: it does not. */
static uint32_t other_part(const struct reorder *r, uint32_t s, uint32_t x, uint32_t g, uint32_t a2)
{
	assert(r->tid[s] == r->tid[x] && r->tpos[s] <= r->tpos[x]);
	const uint32_t *list = r->tev + r->tstart[r->tid[x]];
	uint32_t until = x, walked = 0;
	for (uint32_t p = r->tpos[s]; p < r->tpos[x]; p++) {
		uint32_t i = list[p];
		if (++walked > WALK_MAX)
			return NO;
		if (r->ev[i].kind != EVENT_ACQ || (r->match[i] != NO && r->match[i] < x) || !takes(r, g, a2, r->ev[i].target))
			continue;
		if (r->match[i] == NO)
			return NO;
		if (r->match[i] > until)
			until = r->match[i];
	}
	return until;
}

/* The thread + 1 that holds lock l when the closure has run; 0: none. */
static uint32_t holder(const struct reorder *r, uint32_t l)
{
	assert(l < r->nlocks);
	uint32_t who = r->held[l], b = r->lock_prerel[l];
	if (r->lock_stamp[l] == r->stamp) {
		who = r->ev[r->lock_max[l]].thread + 1;
		b = r->match[r->lock_max[l]];
	}
	return b == NO || r->tpos[b] >= r->done[r->tid[b]] ? who : 0;
}

/*
 * A quick look before the real check: does a part need a lock that a thread
 * other than the two holds?
 */
static bool locked_out(const struct reorder *r, uint32_t from, uint32_t to, uint32_t other)
{
	assert(r->tid[from] == r->tid[to] && r->tpos[from] <= r->tpos[to]);
	const uint32_t *list = r->tev + r->tstart[r->tid[from]];
	for (uint32_t p = r->tpos[from]; p <= r->tpos[to]; p++) {
		const struct event *e = &r->ev[list[p]];
		uint32_t who = e->kind == EVENT_ACQ ? holder(r, e->target) : 0;
		if (who && who != e->thread + 1 && who != other + 1)
			return true;
	}
	return false;
}

/* Writes the candidate into r->order; its length. */
static size_t compose(struct reorder *r, uint32_t s, uint32_t f, uint32_t g, uint32_t a2, struct predicted *out)
{
	assert(r->tid[s] == r->tid[f] && r->tid[g] == r->tid[a2]);
	size_t k = 0;
	for (uint32_t i = 0; i < r->n; i++)
		if (r->tpos[i] < r->done[r->tid[i]])
			r->order[k++] = i;
	out->remote = k;
	for (uint32_t p = r->tpos[s]; p <= r->tpos[f]; p++)
		r->order[k++] = r->tev[r->tstart[r->tid[s]] + p];
	out->local = k;
	for (uint32_t p = r->tpos[g]; p <= r->tpos[a2]; p++)
		r->order[k++] = r->tev[r->tstart[r->tid[g]] + p];
	return k;
}

static void attempt(struct reorder *r, uint32_t a1, uint32_t a2, uint32_t r1, uint32_t r2)
{
	assert(a1 < a2 && r->tid[a1] == r->tid[a2] && r->tid[r1] == r->tid[r2] && r->tid[r1] != r->tid[a1]);
	struct block *root = &r->blocks[r->root[a2]];
	struct predicted f = {
		.kind = PREDICT_PROVEN,
		.first = event_of(&r->ev[a1]),
		.second = event_of(&r->ev[a2]),
		.between = event_of(&r->ev[r1]),
		.start = r->ev[0].index,
	};
	if (a1 < r1 && r2 < a2)
		return; /* that is what was recorded */
	if (r1 != r2)
		f.until = event_of(&r->ev[r2]);
	f.begin = r->blocks[window_block(r, a1, a2)].begin;
	if (predict_known(r->p, &f)) {
		root->proven = true;
		return;
	}
	if (r->attempts >= ATTEMPTS_MAX)
		return;
	uint64_t key = hash64((uint64_t)f.first.loc << 32 | f.second.loc) ^ hash64((uint64_t)f.between.loc << 32 | f.begin.loc) ^
	               hash64(f.until.loc);
	if (!window_try(r, key, TRIES))
		return;
	r->attempts++;
	uint32_t g = last_part(r, a1, a2);
	uint32_t s = r->outer[r1] == NO ? r1 : r->outer[r1];
	uint32_t end = g == NO ? NO : other_part(r, s, r2, g, a2);
	if (end == NO || !closure(r, g, s) || locked_out(r, s, end, NO - 1) || locked_out(r, g, a2, r->ev[s].thread))
		return;
	size_t k = compose(r, s, end, g, a2, &f);
	if (verify_reorder(r->renamed, r->n, r->held, r->nlocks, r->order, k))
		return;
	f.order = malloc(k * sizeof *f.order);
	if (!f.order) {
		r->nomem = true;
		return;
	}
	for (size_t i = 0; i < k; i++)
		f.order[i] = r->ev[r->order[i]].index;
	f.norder = k;
	root->proven = true;
	predict_add(r->p, f);
}

static bool conflict(const struct event *a, const struct event *b)
{
	return a->kind == EVENT_WRITE || b->kind == EVENT_WRITE;
}

/* r2 conflicts with a2: tries it with what its thread did before. */
static void with_remote(struct reorder *r, uint32_t a1, uint32_t a2, uint32_t r2)
{
	assert(a1 < a2 && r2 < r->n);
	const struct event *first = &r->ev[a1];
	if (r->tid[r2] == r->tid[a2] || !conflict(&r->ev[r2], &r->ev[a2]))
		return;
	if (first->target == r->ev[a2].target) {
		if (conflict(first, &r->ev[r2]))
			attempt(r, a1, a2, r2, r2);
		return;
	}
	const uint32_t *list = r->tev + r->tstart[r->tid[r2]];
	for (uint32_t p = r->tpos[r2], n = 0; p-- > 0 && n < BACK; n++) {
		const struct event *e = &r->ev[list[p]];
		if (e->kind <= EVENT_WRITE && e->target == first->target && conflict(first, e))
			attempt(r, a1, a2, list[p], r2);
	}
}

/* a1 and a2 are in one block: tries the accesses around them. */
static void around(struct reorder *r, uint32_t a1, uint32_t a2)
{
	assert(a1 < a2 && a2 < r->n && r->tid[a1] == r->tid[a2]);
	uint64_t places = hash64((uint64_t)r->ev[a1].loc << 32 | r->ev[a2].loc) + 1;
	uint32_t near = 0;
	if (r->attempts >= ATTEMPTS_MAX || !window_try(r, places, PAIR_TRIES))
		return;
	for (uint32_t x = r->next_same[a2]; x != NO && near < NEAR; x = r->next_same[x], near++)
		with_remote(r, a1, a2, x);
	near = 0;
	for (uint32_t x = r->prev_same[a2]; x != NO && near < NEAR; x = r->prev_same[x], near++)
		with_remote(r, a1, a2, x);
}

/* The accesses of the block shortly before a2 to other variables. */
static void two_variables(struct reorder *r, uint32_t a2)
{
	assert(a2 < r->n);
	const uint32_t *list = r->tev + r->tstart[r->tid[a2]];
	for (uint32_t p = r->tpos[a2], n = 0; p-- > 0 && n < BACK;) {
		uint32_t i = list[p];
		if (r->root[i] != r->root[a2])
			return;
		if (r->ev[i].kind > EVENT_WRITE)
			continue;
		n++;
		if (r->ev[i].target != r->ev[a2].target)
			around(r, i, a2);
	}
}

/* The access before a2 to its variable in the same block, or NO. */
static uint32_t before_in_block(const struct reorder *r, uint32_t a2)
{
	assert(a2 < r->n);
	for (uint32_t a = r->prev_same[a2], n = 0; a != NO && n < 64; a = r->prev_same[a], n++)
		if (r->tid[a] == r->tid[a2])
			return r->root[a] == r->root[a2] ? a : NO;
	return NO;
}

/* The block forks a thread before a2: what that does comes between, if it does
 * it before a2. */
static void after_forks(struct reorder *r, uint32_t a2)
{
	assert(a2 < r->n);
	const uint32_t *list = r->tev + r->tstart[r->tid[a2]];
	for (uint32_t p = r->tpos[a2], n = 0; p-- > 0 && n < FORKS_BACK; n++) {
		uint32_t i = list[p], near = 0;
		if (r->root[i] != r->root[a2])
			return;
		uint32_t child = r->ev[i].kind == EVENT_FORK ? r->threads[r->ev[i].target].local1 : 0;
		for (uint32_t x = r->next_same[a2]; child && x != NO && near < NEAR; x = r->next_same[x], near++)
			if (r->tid[x] == child - 1 && conflict(&r->ev[x], &r->ev[a2]))
				attempt(r, i, a2, r->tev[r->tstart[child - 1]], x);
	}
}

/* The block joins a thread: what that did to data the block uses may come after
 * the block's use. */
static void before_join(struct reorder *r, uint32_t join)
{
	assert(join < r->n && r->ev[join].kind == EVENT_JOIN);
	const uint32_t *list = r->tev + r->tstart[r->tid[join]];
	uint32_t child = r->threads[r->ev[join].target].local1, last = NO;
	for (uint32_t p = child ? r->tlen[child - 1] : 0; p-- > 0 && last == NO;)
		if (r->tev[r->tstart[child - 1] + p] < join)
			last = r->tev[r->tstart[child - 1] + p];
	for (uint32_t p = r->tpos[join], n = 0; last != NO && p-- > 0 && n < BACK;) {
		uint32_t i = list[p], near = 0;
		if (r->root[i] != r->root[join])
			return;
		if (r->ev[i].kind > EVENT_WRITE)
			continue;
		n++;
		for (uint32_t x = r->prev_same[i]; x != NO && near < NEAR; x = r->prev_same[x], near++)
			if (r->tid[x] == child - 1 && conflict(&r->ev[x], &r->ev[i]))
				attempt(r, i, join, x, last);
	}
}

static void shapes(struct reorder *r, uint32_t i)
{
	assert(i < r->n);
	if (r->ev[i].kind == EVENT_JOIN)
		before_join(r, i);
	if (r->ev[i].kind > EVENT_WRITE)
		return;
	uint32_t a1 = before_in_block(r, i);
	if (a1 != NO)
		around(r, a1, i);
	two_variables(r, i);
	after_forks(r, i);
}

bool reorder_analyse(struct reorder *r)
{
	if (r->n < 3 || !r->fresh)
		return true;
	r->attempts = r->steps = 0;
	r->fresh = false;
	r->nlocal = 0;
	if (!r->begins && !r->open)
		return true; /* nothing in it is in a block */
	if (window_build(r)) {
		for (uint32_t i = 0; i < r->n && !r->nomem; i++)
			if (r->root[i] != NO)
				shapes(r, i);
		for (uint32_t b = 0; b < r->nblocks && !r->nomem; b++)
			if (r->blocks[b].parent == NO && r->blocks[b].at != NO && !r->blocks[b].proven)
				reorder_search(r, b, r->blocks[b].at, r->blocks[b].last);
	}
	for (uint32_t k = 0; k < r->nlocal; k++)
		r->threads[r->tglobal[k]].local1 = 0;
	return !r->nomem;
}
