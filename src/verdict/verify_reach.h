/*
 * verify_reach: can a run of a model go wrong, and can its threads always leave their blocks again? Decided by going
 * through all states of the declared threads, one by one: no reduction, no symmetry, no code of the engines
 * but ir/step.
 *
 * From the states in which all threads are outside their blocks, or a step can go wrong (what then would have
 * been is nobody's business), everything that can get there is marked, backwards. A state that is left has no way out.
 *
 * Cost: a row (rows.h) and 12 bytes a state, 8 bytes a step for the second question; both bounded.
 */
#ifndef INTACT_VERDICT_VERIFY_REACH_H
#define INTACT_VERDICT_VERIFY_REACH_H

#include "verdict/verify.h"

struct verify_reach {
	uint64_t max_states;
	bool ways_out;                   /* ask the second question too */
	bool deadlocks;                  /* that nobody can move, though not all have finished, is going wrong too */
	enum verify_run_answer fault, out;   /* EXPLAINED: no run goes wrong, there always is a way out; UNEXPLAINED: see the paths; LIMIT */
	const char *limit;
	uint64_t states;
	struct move *fault_path, *out_path; /* the run that goes wrong, by its last step or in a deadlock; to where no way leads out. malloc'ed */
	uint32_t nfault, nout;
};

void verify_reach(struct verify_reach *v, const struct ir *p);
void verify_reach_free(struct verify_reach *v);

#endif
