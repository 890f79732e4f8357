/*
 * causal_run: a counterexample of the causal engines, as data: a run of the
 * abstract program in which a causal chain leaves a block and returns to it.
 *
 * It is *abstract*: values that the engines forget may not allow it.
 * causal_replay decides whether some concrete run of the program takes exactly
 * these steps; when it does, all runs that differ only in the order of
 * independent steps do.
 *
 * The links form a cycle: link i leads from an event to one that is causally
 * after it because both touch `var` (or are steps of one thread, in order);
 * link i + 1 begins at the same event, or at another one of the same block
 * occurrence; the last leads back to the occurrence that the first one left. For
 * one block, the chain is one of time too: the first link leaves the block,
 * the last comes back to a later event of it.
 */
#ifndef INTACT_VERDICT_CAUSAL_RUN_H
#define INTACT_VERDICT_CAUSAL_RUN_H

#include "ir/ir.h"
#include "verdict/verdict.h"

struct causal_thread {
	uint32_t tmpl, index; /* from 1, among its template's */
};

struct causal_touch {
	uint32_t var, elem; /* elem IR_NONE: the whole array */
	bool write;
	bool valued; /* the value is kept: */
	bool looked; /* found is what it needed to be, not just overwritten */
	int32_t found, left;
};

struct causal_event {
	uint32_t thread;
	uint32_t node, next;      /* where the thread was, where it went */
	uint32_t entered, exited; /* blocks, or IR_NONE */
	uint32_t block;           /* it is inside of, or IR_NONE */
	uint32_t touch, ntouch;
};

struct causal_link {
	uint32_t from, to;  /* events */
	uint32_t var, elem; /* what carries it; var IR_NONE: the order of the thread */
};

enum causal_concrete {
	CAUSAL_UNTRIED,
	CAUSAL_POSSIBLE,   /* path is a concrete schedule of it */
	CAUSAL_IMPOSSIBLE, /* at event `stops` the data do not allow it */
	CAUSAL_TOO_LONG,   /* too many choices to try */
};

struct causal_run {
	struct causal_thread *threads; /* that take a step */
	uint32_t nthreads;
	struct causal_event *events; /* one order of them */
	uint32_t nevents;
	struct causal_touch *touches;
	uint32_t ntouches;
	struct causal_link *links;
	uint32_t nlinks;
	uint32_t *count; /* threads of each template there have to be */
	uint32_t ntemplates;
	bool smallest; /* fewer do not do */
	enum causal_concrete concrete;
	uint32_t stops;
	struct move *path;
	uint32_t npath;
	char *schedule; /* for `intact sim`, options first; malloc'ed or NULL */
};

void causal_run_free(struct causal_run *r);

/* Tries to take the steps in p, which must be the same model; sets concrete.
 * Untried when p has fewer threads than the run needs. */
void causal_replay(const struct ir *p, struct causal_run *r);

#endif
