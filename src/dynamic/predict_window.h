/*
 * predict_window: the stretch of a trace that predict_reorder.c looks at, and
 * its tables: the events by thread, which write each read has read, which
 * release ends each section, the neighbours on a variable. Slides by halves.
 *
 * Memory: that of the window, and a few words for each thread and lock: variables
 * are numbered anew in each window, so how many the trace has does not matter. A
 * window in which no block is open for a moment is passed over.
 */
#ifndef INTACT_DYNAMIC_PREDICT_WINDOW_H
#define INTACT_DYNAMIC_PREDICT_WINDOW_H

#include "base/map.h"
#include "dynamic/predict.h"

#define NO UINT32_MAX

struct thread {
	struct predict_event begin; /* of the block open at the window's start */
	bool open;
	uint32_t local1;            /* id in the window + 1 */
	uint32_t last_access;
};

struct reorder {
	struct predict *p;
	size_t window, n;
	struct event *ev;
	struct event *renamed;      /* the same with variables numbered in the window */
	bool fresh;                 /* events since the last analysis */
	uint32_t begins, open;      /* blocks that begin in it, or are open at its start */
	struct thread *threads;     /* by thread */
	uint32_t *held;             /* by lock: thread + 1 at the window's start */
	uint32_t nthreads, nlocks;
	struct map tried;
	/* the window, by event */
	uint32_t *tid, *tpos, *tev, *rf, *match, *outer, *block, *prev_same, *next_same;
	uint32_t *order;
	/* by local thread */
	uint32_t *tstart, *tlen, *tglobal, *forked_by, *target, *done;
	uint32_t nlocal, local_cap;
	/* by variable of the window, and lock; var_slot: hashed, number + 1 */
	uint32_t *var_slot, *var_target, *var_last, *var_write;
	uint32_t var_mask, nvars;
	uint32_t *lock_max, *lock_stamp, *lock_prerel, *lock_acq;
	uint32_t stamp, attempts;
	bool nomem;
};

static inline struct predict_event event_of(const struct event *e)
{
	return (struct predict_event){ e->index, e->thread, e->target, e->loc, e->kind };
}

/* Makes the tables for the events that are there; false: out of memory. */
bool window_build(struct reorder *r);
/* Tries what can be tried in the window (predict_reorder.c). */
bool reorder_analyse(struct reorder *r);

#endif
