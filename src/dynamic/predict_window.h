/*
 * predict_window: the stretch of a trace that predict_reorder.c looks at, and
 * its tables: the events by thread, which write each read has read, which
 * release ends each section, the neighbours on a variable. Slides by halves.
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
	bool fresh;                 /* events since the last analysis */
	struct thread *threads;     /* by thread */
	uint32_t *held;             /* by lock: thread + 1 at the window's start */
	uint32_t nthreads, nlocks, nvars;
	struct map tried;
	/* the window, by event */
	uint32_t *tid, *tpos, *tev, *rf, *match, *outer, *block, *prev_same, *next_same;
	uint32_t *order;
	/* by local thread */
	uint32_t *tstart, *tlen, *tglobal, *forked_by, *target, *done;
	uint32_t nlocal, local_cap;
	/* by variable and lock */
	uint32_t *var_last, *var_write;
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
