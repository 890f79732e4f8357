/*
 * predict_window: the stretch of a trace that predict_reorder.c and
 * predict_search.c look at, and its tables: the events by thread, which write each
 * read has read, which release ends each section, the blocks and how they nest,
 * the neighbours on a variable. Slides by halves.
 *
 * Events that only repeat (EVENT_INNER) run with the others, so that a witness is
 * an execution, but say nothing to the search: their kind in `ev` is NOTHING, in
 * `renamed` it is their own.
 *
 * Memory: that of the window, and a few words for each thread and lock: variables
 * are renumbered in each window, so their number in the trace does not matter. A
 * window in which no block is open is skipped.
 */
#ifndef INTACT_DYNAMIC_PREDICT_WINDOW_H
#define INTACT_DYNAMIC_PREDICT_WINDOW_H

#include "base/invariant.h"
#include "base/map.h"
#include "dynamic/predict.h"

#define NO UINT32_MAX

#define NOTHING    EVENT_KINDS
#define INNER_KIND 4 /* in `flags` of an inner event: its own kind */

struct window_thread {
	struct predict_event *open; /* blocks open at the window's start, outermost first */
	uint32_t nopen, open_cap;
	uint32_t local1; /* id in the window + 1 */
};

/* A block of the window. */
struct block {
	struct predict_event begin;
	uint32_t parent; /* the block around it, NO: none */
	uint32_t at;     /* its begin in the window, NO: before it */
	uint32_t last;   /* of the outermost: its last event in the window */
	bool proven;     /* of the outermost: it, or one in it, has been proven breakable */
};

struct reorder {
	struct predict *p;
	size_t window, n;
	struct event *ev;
	struct event *renamed;         /* the same with variables numbered in the window */
	bool fresh;                    /* events since the last analysis */
	uint32_t begins, open;         /* blocks that begin in it, or are open at its start */
	struct window_thread *threads; /* by thread */
	uint32_t *held;                /* by lock: thread + 1 at the window's start */
	uint32_t nthreads, nlocks;
	struct map tried;
	/* the window, by event */
	uint32_t *tid, *tpos, *tev, *rf, *match, *outer, *prev_same, *next_same;
	uint32_t *block, *root; /* the innermost and the outermost block; NO: none */
	uint32_t *order;
	/* by local thread */
	uint32_t *tstart, *tlen, *tglobal, *forked_by, *target, *done;
	uint32_t nlocal, local_cap;
	/* by variable of the window, and lock; var_slot: hashed, number + 1 */
	uint32_t *var_slot, *var_target, *var_last, *var_write;
	uint32_t var_mask, nvars;
	uint32_t *lock_max, *lock_stamp, *lock_prerel, *lock_acq;
	struct block *blocks;
	uint32_t nblocks, blocks_cap;
	uint32_t stamp, attempts, steps;
	struct predict_search *search; /* predict_search.c's, when it was needed */
	bool nomem;
};

static inline struct predict_event event_of(const struct event *e)
{
	/* an inner event has its kind in the flags (reorder_feed) */
	unsigned kind = e->flags & EVENT_INNER ? e->flags >> INNER_KIND : e->kind;
	assert(kind < EVENT_KINDS);
	return (struct predict_event){ e->index, e->thread, e->target, e->loc, (uint8_t)kind };
}

/* Makes the tables for the events that are there; false: out of memory. */
bool window_build(struct reorder *r);
/* The innermost block that holds both; they are in one outermost block. */
uint32_t window_block(const struct reorder *r, uint32_t a1, uint32_t a2);
/* Counts one more try of this key; false when there were enough. */
bool window_try(struct reorder *r, uint64_t key, uint32_t max);
/* Tries what can be tried in the window (predict_reorder.c). */
bool reorder_analyse(struct reorder *r);
/* Tries all orders around an outermost block, which extends from .. to
 * (predict_search.c). */
void reorder_search(struct reorder *r, uint32_t root, uint32_t from, uint32_t to);

#endif
