/*
 * trace_judge: conflict serializability of small traces by the definitions of
 * docs/trace.md alone: transactions, conflicts, links, violating blocks.
 */
#ifndef INTACT_TESTS_TRACE_JUDGE_H
#define INTACT_TESTS_TRACE_JUDGE_H

#include <string.h>

#include "trace_gen.h"

struct judge {
	const struct event *ev;
	uint32_t n;
	uint32_t txn[GEN_MAX];   /* of each event */
	bool block[GEN_MAX];     /* is the transaction a block? */
	uint32_t first[GEN_MAX]; /* its first event */
	uint32_t ntxn;
	bool off[GEN_MAX];       /* repeats: nested begin, reentrant lock */
};

static void judge_init(struct judge *j, const struct event *ev, uint32_t n)
{
	uint32_t depth[GEN_THREADS] = { 0 }, cur[GEN_THREADS] = { 0 };
	uint32_t owner[8] = { 0 }, held[8] = { 0 };
	memset(j, 0, sizeof *j);
	j->ev = ev;
	j->n = n;
	for (uint32_t i = 0; i < n; i++) {
		const struct event *e = &ev[i];
		uint32_t t = e->thread, l = e->target;
		if (!depth[t]) {
			cur[t] = j->ntxn++;
			j->first[cur[t]] = i;
			j->block[cur[t]] = e->kind == EVENT_BEGIN;
		}
		j->txn[i] = cur[t];
		if (e->kind == EVENT_BEGIN)
			depth[t]++;
		if (e->kind == EVENT_END && depth[t])
			depth[t]--;
		if (e->kind == EVENT_ACQ) {
			j->off[i] = held[l] && owner[l] == t;
			held[l]++;
			owner[l] = t;
		}
		if (e->kind == EVENT_REL && held[l])
			j->off[i] = --held[l] > 0;
	}
}

/* What two events conflict over: a variable or a lock, the life of the later one's thread, that of the earlier one's. Over two of them
 * at once, when a thread joins the one that forked it. */
enum over { OVER_DATA, OVER_FORK, OVER_JOIN, OVERS };

static bool clash_over(const struct judge *j, uint32_t a, uint32_t b, enum over over)
{
	const struct event *x = &j->ev[a], *y = &j->ev[b];
	if (over == OVER_FORK)
		return x->kind == EVENT_FORK && x->target == y->thread;
	if (over == OVER_JOIN)
		return y->kind == EVENT_JOIN && y->target == x->thread;
	if (x->kind <= EVENT_WRITE && y->kind <= EVENT_WRITE)
		return x->target == y->target && x->kind + y->kind > 0;
	return x->kind == EVENT_REL && y->kind == EVENT_ACQ && x->target == y->target && !j->off[a] && !j->off[b];
}

static bool clash(const struct judge *j, uint32_t a, uint32_t b)
{
	return clash_over(j, a, b, OVER_DATA) || clash_over(j, a, b, OVER_FORK) || clash_over(j, a, b, OVER_JOIN);
}

static bool ordered(const struct judge *j, uint32_t a, uint32_t b)
{
	return j->ev[a].thread == j->ev[b].thread || clash(j, a, b);
}

/* Is event d on the object over which a conflicts with a later one? */
static bool same_object(const struct judge *j, uint32_t a, uint32_t d, enum over over)
{
	const struct event *x = &j->ev[a], *z = &j->ev[d];
	if (over == OVER_FORK)
		return z->thread == x->target; /* an event of the child */
	if (over == OVER_JOIN)
		return z->kind == EVENT_JOIN && z->target == x->thread;
	if (x->kind <= EVENT_WRITE)
		return z->kind <= EVENT_WRITE && z->target == x->target;
	return (z->kind == EVENT_ACQ || z->kind == EVENT_REL) && z->target == x->target;
}

static bool is_link_over(const struct judge *j, uint32_t c, uint32_t e, enum over over)
{
	if (!clash_over(j, c, e, over))
		return false;
	for (uint32_t d = c + 1; d < e; d++)
		if (same_object(j, c, d, over) && clash(j, c, d) && (j->ev[d].thread == j->ev[e].thread || clash(j, d, e)))
			return false;
	return true;
}

static bool is_link(const struct judge *j, uint32_t c, uint32_t e)
{
	bool link = false;
	for (int over = 0; over < OVERS && j->ev[c].thread != j->ev[e].thread; over++)
		link |= is_link_over(j, c, e, (enum over)over);
	return link;
}

/* violating[i]: the block that begins with event i violates. */
static void violating(const struct judge *j, bool *out)
{
	bool reach[GEN_MAX][GEN_MAX];
	memset(reach, 0, sizeof reach);
	memset(out, 0, GEN_MAX * sizeof *out);
	for (uint32_t e = 0; e < j->n; e++) {
		uint32_t b = j->txn[e];
		/* reach is that of the events before e */
		for (uint32_t c = 0; c < e; c++)
			if (j->txn[c] != b && reach[b][j->txn[c]] && is_link(j, c, e))
				out[j->first[b]] = true;
		for (uint32_t c = 0; c < e; c++) {
			if (j->txn[c] == b || !ordered(j, c, e) || reach[j->txn[c]][b])
				continue;
			uint32_t a = j->txn[c];
			for (uint32_t x = 0; x < j->ntxn; x++)
				for (uint32_t y = 0; y < j->ntxn; y++)
					if ((x == a || reach[x][a]) && (y == b || reach[b][y]))
						reach[x][y] = true;
		}
	}
}

#endif
