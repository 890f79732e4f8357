/*
 * verify_reach: can a run of a model have a fault, and can its threads always leave their blocks? Decided by visiting
 * all states of the declared threads, one by one: no reduction, no symmetry, no code of the engines but ir/step.
 *
 * From the states in which all threads are outside their blocks, or a step can have a fault (what would follow does
 * not matter), everything that can reach them is marked, backwards. A state that is left has no way out.
 *
 * The same search answers whether a condition on states (ir.h) holds: `always` and `finally` in each state, `can always reach`
 * by marking backwards from where it holds.
 *
 * Cost: a row (seqtab.h) and 12 bytes per state, 8 bytes per step for the second question; both bounded.
 */
#ifndef INTACT_VERDICT_VERIFY_REACH_H
#define INTACT_VERDICT_VERIFY_REACH_H

#include "verdict/verify.h"

struct verify_reach {
	uint64_t max_states;
	bool ways_out;      /* ask the second question too */
	uint32_t property1; /* instead of both: does this condition on states hold (its number + 1)? Answered in `out` */
	bool deadlocks;     /* a state in which no thread can move, though not all have finished, counts as a fault too */
	enum verify_run_answer fault,
		out; /* EXPLAINED: no run has a fault, there always is a way out; UNEXPLAINED: see the paths; LIMIT */
	const char *limit;
	uint64_t states;
	bool ended; /* some run ends with all threads finished */
	struct move *fault_path,
		*out_path; /* the run that goes wrong, by its last step or in a deadlock; to where no way leads out. malloc'ed */
	uint32_t nfault, nout;
};

void verify_reach(struct verify_reach *v, const struct ir *p);
void verify_reach_free(struct verify_reach *v);

#endif
