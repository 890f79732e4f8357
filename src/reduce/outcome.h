/*
 * outcome: the outcomes of a step with respect to one shared variable.
 *
 * The code after a node is run symbolically, path by path, with the variable
 * in focus first 0 and then 1: that distinguishes a compare-and-swap that
 * succeeds from one that fails, and whether the second comes back to the same
 * place with nothing changed (a *pure* outcome: the state is the same as
 * before, so the step may as well not have been taken), or to another place
 * with nothing changed (the *same*: a step of a waiting loop, spin_wait.h).
 *
 * Registers are known constants or unknown; a jump on an unknown one is taken
 * both ways. The number of paths and instructions is bounded; a step that
 * exceeds it has no outcomes here (`gave_up`), and its footprint in the
 * program is all that is known of it.
 */
#ifndef INTACT_REDUCE_OUTCOME_H
#define INTACT_REDUCE_OUTCOME_H

#include "ir/ir.h"

enum { OUTCOMES_MAX = 32, VALUE_UNKNOWN = 2 };

struct outcome {
	uint32_t succ;         /* the node it leads to */
	uint8_t before, after; /* of the variable in focus: 0, 1, unknown */
	bool same;             /* nothing changes but the place of the thread */
	bool pure;             /* the same, and it comes back to its node */
};

struct outcomes {
	uint32_t n;
	bool gave_up;
	bool plain; /* none of its instructions can fail, wait or choose */
	struct outcome data[OUTCOMES_MAX];
};

/* `focus`: a scalar of the values 0 and 1, or IR_NONE. */
void outcomes_of(const struct ir *p, uint32_t tmpl, uint32_t node, uint32_t focus, struct outcomes *out);

#endif
