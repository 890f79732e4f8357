/*
 * mover: what each step is in Lipton's sense, for all executions of any
 * number of threads.
 *
 * A step is a *both-mover* when every shared access it may make is free of
 * conflicts: each access of another thread to the same element, one of the
 * two writing, is made with a lock held that this one holds too (two steps
 * that both begin with the lock held are never neighbours in an execution).
 * Read-only and thread-confined variables are the special cases without such
 * an access. Taking a lock moves right, freeing it left: no neighbouring step
 * of another thread can touch it there. With a conflict it is a *non-mover*.
 * An assume() that waits, a failing assertion and a choice change nothing of
 * this: whether and how a step can be taken depends on its thread's frame and
 * on what it accesses, and a step without a conflict commutes with its
 * neighbours whether or not it could have been held up.
 *
 * The two steps of a safe or regular access are accesses of that variable: a
 * read's touch what a write changes, a write's what all others see.
 *
 * Representation: accesses are sorted into groups that are alike (variable,
 * element, locks held, thread, writing); groups are compared in pairs, per
 * variable. Cost: sorting the accesses, plus pairs of groups, of which there
 * are few. A variable with more than PAIRS_MAX pairs is protected only by a
 * lock common to all its accesses.
 */
#ifndef INTACT_REDUCE_MOVER_H
#define INTACT_REDUCE_MOVER_H

#include "reduce/flow.h"

enum reduce_mover { MOVER_BOTH, MOVER_RIGHT, MOVER_LEFT, MOVER_NON };

struct group {              /* accesses that are alike */
	uint32_t var, elem; /* IR_NONE: any element */
	uint32_t set;       /* locks held */
	uint32_t thread;    /* the template when there is one such thread, else IR_NONE */
	bool write;
	uint32_t access;   /* the first of them, into ir.accesses */
	uint32_t node;     /* whose it is */
	uint32_t conflict; /* a group this one conflicts with, or IR_NONE */
};

struct movers {
	uint8_t *mover;  /* by node: enum reduce_mover */
	uint32_t *cause; /* by node: of a non-mover, the group that conflicts; IR_NONE:
	                     * it takes one lock and frees another */
	uint32_t *lock;  /* by node: the hand-made lock it takes or frees, or IR_NONE; a
	                     * mover only where flow_private says so */
	struct group *groups;
	uint32_t ngroups;
};

/*
 * `any`: every template may have any number of threads; else those declared
 * with one thread have one. Memory from the arena, as in flow_run.
 */
/* What the step is when the question is about this block, or FLOW_ALL. */
enum reduce_mover mover_of(const struct movers *m, const struct flow *f, uint32_t node, uint32_t block);
void movers_find(struct movers *m, struct flow *f, bool any, struct arena *a);

#endif
