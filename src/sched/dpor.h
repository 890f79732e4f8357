/*
 * dpor: optimal dynamic partial-order reduction (Abdulla, Aronis, Jonsson,
 * Sagonas: JACM 64(4), 2017, algorithm 2), for sequential consistency and for
 * operations that block. Every trace (op.h) is executed exactly once, and no
 * run is begun that turns out to be equivalent to an earlier one.
 *
 * A NODE is a point of the run going on: the thread taken, the threads that
 * sleep (their next operation leads only to traces seen already) and the
 * wake-up tree: what else is to be taken here, first the branch being
 * explored, in order. At the end of a run every race of the run is reversed
 * (those of its old prefix too: their v has the new rest). For events e before
 * e' of different threads, dependent, where e does not happen before the event
 * that precedes e' in its thread, the sequence
 *     v = the events after e that do not happen after e, then e'
 * is inserted into the tree of e's node, unless a sleeping thread is a weak
 * initial of v (an equivalent run exists). Then the deepest node with a branch
 * left is where the next run departs.
 *
 * BLOCKING. A race is reversed only if e' would be enabled after v without it.
 * The unlock that a lock waited for is not reversible, but the lock before is:
 * so candidates for e are all earlier dependent events, latest first, and only
 * one that is reversible hides those that happen before it. Whether e' would
 * be enabled is computed from the events on its object (dpor_enabled.c); where
 * several events must go together (a writer against readers that hold the lock
 * at the same time) e is a set. Operations pending at the end of a run count
 * as events: a thread that waits forever may not have to in another order.
 *
 * CHOICES by value belong to the operation: a branch is a thread with the
 * choice it makes. Dependence does not look at the choice, so the choices of a
 * thread are siblings next to each other in the tree; a thread sleeps when the
 * last of them is done. Every choice is a branch, except below a tree while a
 * thread q still sleeps after the operation: then all of it was explored after
 * q, and where a choice leads to something that must come before q, the race
 * was reversed and the choice is in the tree. (A sequence without that thread
 * is inserted below each of its choices.)
 *
 * SHARDS. Without a common tree processes cannot insert into each other's
 * nodes. So at the first split_depth points every ready thread that does not
 * sleep is a branch, nothing need be inserted there, and each prefix of that
 * length belongs to one shard. Traces are still seen once; but runs may turn
 * out blocked (stats.blocked).
 *
 * Cost at the end of a run: the events times the length of the chains of events
 * on their objects, plus the length of the run for each race. Clocks are computed
 * for the new events only.
 */
#ifndef INTACT_SCHED_DPOR_H
#define INTACT_SCHED_DPOR_H

#include "base/invariant.h"
#include "sched/session.h"

enum { NO_CHOICE = 0xff, CHAINS = 1024, WIDE = CHAINS, SET_MAX = 64 };

/* of a wake-up tree; 0 is no branch */
struct branch {
	struct sched_op op;
	uint32_t thread, child, next;
	uint16_t choice, choices; /* NO_CHOICE and 0: not known */
};

struct dpor_node {
	uint32_t thread, tree, done;
	uint32_t choices; /* alternatives of the thread's choice by value, once known */
	uint32_t choice;
};

/* an event's part of the happens-before; see dpor_race.c */
struct dpor_link {
	uint32_t seq;      /* the thread's n-th event, from 1 */
	uint32_t cause;    /* enabling edge, NONE */
	uint32_t before;   /* the thread's event before, NONE */
	uint32_t chain[2]; /* NONE: no second */
	uint32_t prev[2];  /* the event before in that chain */
	uint32_t await;    /* index into awaits, NONE */
	uint8_t same;      /* all events of chain[0] so far: the same a and size */
};

struct await_record {
	uint32_t event, n;
	uint32_t since[SCHED_AWAIT_MAX];
	struct sched_range range[SCHED_AWAIT_MAX];
};

struct dpor {
	struct dpor_node *node;
	uint64_t *sleep; /* words for each node */
	uint32_t words;
	uint32_t depth;  /* nodes with a branch */
	uint32_t replay; /* of them the first ones are from the run before */
	uint32_t follow; /* subtree to follow below the last node */
	struct branch *branch;
	uint32_t n_branches, max_branches, free;
	bool full;
	/* happens-before */
	struct dpor_link *link;
	uint32_t *clock; /* rows of `stride`, one for each event */
	size_t clock_max;
	uint32_t stride, clocked; /* rows valid */
	uint32_t *head;           /* CHAINS + 1 */
	uint32_t *tail;           /* by thread: its last clocked event */
	uint32_t *exit;           /* by thread: its exit event */
	struct await_record *await;
	uint32_t n_awaits, max_awaits;
	/* scratch */
	uint32_t *base, *cover, *whole; /* clocks of the event in hand */
	uint32_t *v, *first;
	uint8_t *used;
};

static inline uint32_t *clock_of(const struct dpor *d, uint32_t event)
{
	assert(event < d->clocked || event == d->clocked);
	return d->clock + (size_t)event * d->stride;
}

/* Does event j happen after (or is it) event k? */
static inline bool happens_after(const struct sched *s, uint32_t j, uint32_t k)
{
	assert(j < s->n && k < s->n);
	return clock_of(s->dpor, j)[s->ev[k].thread] >= s->dpor->link[k].seq;
}

static inline uint64_t *sleep_of(const struct dpor *d, uint32_t node)
{
	assert(d->words);
	return d->sleep + (size_t)node * d->words;
}

/* How a pending operation is compared with executed ones: where a call of once
 * meets one that has passed, it would pass too. */
static inline struct sched_op as_pending(struct sched_op op)
{
	op.flags = op.kind == SCHED_ONCE ? op.flags | SCHED_PASSED : op.flags & (uint16_t)~SCHED_AWAITS;
	return op;
}

/* e', the later event of a race: executed (event) or pending at the end (NONE). */
struct later {
	uint32_t event, thread;
	struct sched_op op; /* without what only its own execution showed */
	uint32_t cause;
	uint32_t await;
};

/* The events that e' goes before: their first is where the tree is. */
struct goes {
	uint32_t n, e[SET_MAX];
};

/* dpor_tree.c */
void dpor_tree_free(struct dpor *d, uint32_t branch);
uint32_t tree_new(struct dpor *d, uint32_t thread, const struct sched_op *op, uint32_t choice);
void tree_insert(struct sched *s, const struct goes *g, const struct later *l);
/* dpor_race.c */
bool race_clocks(struct sched *s);                /* at the end: happens-before; false: memory */
void races(struct sched *s);                      /* at the end: all of the run */
void race_unlink(struct sched *s, uint32_t keep); /* forget events >= keep */
void race_forget(struct sched *s);
/* Keeps the ranges that thread t's pending operation awaits; NONE: full. */
uint32_t race_await(struct sched *s, uint32_t t, uint32_t event);
/* dpor_enabled.c: would e' be enabled without g[0] and what happens after it?
 * May add to g (what must go with it). */
bool enabled_without(struct sched *s, struct goes *g, const struct later *l);

#endif
