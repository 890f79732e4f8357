/*
 * flow: which locks a thread certainly holds at which node, and which boolean
 * variables are locks coded by hand.
 *
 * Forward must-analysis over each template's graph: a node's set is the
 * common part of what arrives over its edges. Sets only shrink, so the pass
 * is linear in the edges for the shallow lock nesting of real programs.
 *
 * Hand-made locks. A candidate is a shared scalar of the values 0 and 1 that
 * starts at 0. "Holding" it means: having made it 1 when it was 0, and not
 * having made it 0 since. The obligation: a thread that may make it 0 when it
 * is 1 certainly holds it there. Then, by induction over the steps of any
 * execution of any number of threads, the variable is 1 exactly when one
 * thread holds it: only 0 -> 1 makes a holder (no thread held it then), only
 * a holder makes it 0. All candidates are assumed to be locks at first; those
 * that fail are dropped and the analysis runs again, so that what is left
 * holds together. A certain holder finds the variable 1, so its steps for the
 * value 0 are no edges.
 *
 * A candidate is *observed* when a thread that may not hold it takes a step
 * that depends on it other than taking it: a failed try, a plain read. It
 * then excludes like a lock, but taking and freeing it do not move: the step
 * in between sees it taken. A failed try that leaves the state as it was (a
 * pure repetition) may be struck from an execution when it is part of a block
 * whose atomicity is in question: a serial run of the block need not make it.
 * Outside it is a step like any other, which takes effect when it is taken.
 * So the places of the pure tries are kept, and flow_private answers for a
 * question. A loop that waits in several steps (test and test-and-set) is one
 * such try (spin_wait.h).
 */
#ifndef INTACT_REDUCE_FLOW_H
#define INTACT_REDUCE_FLOW_H

#include "ir/ir.h"
#include "reduce/held_locks.h"
#include "reduce/outcome.h"

#define FLOW_UNREACHED UINT32_MAX
#define FLOW_ALL       UINT32_MAX /* the question about all blocks at once */

enum {                    /* of a variable */
       HAND_LOCK = 1,     /* meets the obligation */
       HAND_OBSERVED = 2, /* not only by pure tries */
       HAND_TAKEN = 4,    /* some step takes it */
       HAND_FREED = 8,    /* some step of its holder frees it */
};

struct flow {
	const struct ir *ir;
	struct arena *arena;
	struct held_locks sets;
	uint8_t *hand;            /* by variable */
	struct flow_hand {        /* by variable; nodes or IR_NONE */
		uint32_t taken;   /* takes it */
		uint32_t outside; /* tries outside every block, and may fail purely */
		uint32_t try1;    /* tries inside a block, ... */
		uint32_t try2;    /* ... and inside another */
	} * at;
	uint32_t *set;              /* by node: locks certainly held there, or FLOW_UNREACHED */
	uint32_t *focus;            /* by node: the candidate it touches, or IR_NONE */
	uint32_t *special;          /* by node: into `edges` plus one; 0: its succs are its edges */
	AVEC(struct outcome) edges; /* a node's list begins with its length in succ; same: plain */
	uint32_t *waits;            /* by node: of a waiting loop, the node that takes the lock; else IR_NONE */
};

/* Memory comes from the arena, whose oom target must be set. */
void flow_run(struct flow *f, const struct ir *p, struct arena *a);

/*
 * The edges of a reached node as they can be taken there: `*i` counts from 0.
 * Pure repetitions are left out. False when there are no more.
 */
bool flow_edge(const struct flow *f, uint32_t node, uint32_t *i, struct outcome *e);

/*
 * Is the variable a lock that no thread reads without taking it, as far as
 * the question about this block (or FLOW_ALL) goes? If not, *who is a node
 * that does.
 */
bool flow_private(const struct flow *f, uint32_t var, uint32_t block, uint32_t *who);

#endif
