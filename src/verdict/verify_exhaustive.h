/*
 * verify_exhaustive: is every run of a model explained by a serial one? Decided by visiting all of them.
 *
 * The checker's own answer to "atomic", for as many threads as the model declares. It shares nothing with
 * the engines but ir/step, and has none of their reductions, symmetries or commit points: it follows the
 * definition. First with everything in the order of time: a state of the search is an interleaved state with the set of its
 * *shadows*, serial states that the blocks and outside steps so far can have led to, each with the threads whose present
 * block has taken effect in it already.
 *   - A step outside the blocks in question is taken in the shadows too, and must leave the
 *     thread where it is left in the run.
 *   - A block takes effect, in one piece, at any moment between its entry and its exit.
 *   - At its exit it must have taken effect, and have left the thread where the run does.
 *   - When all threads are outside, some shadow must be the state of the run.
 * A run that is explained in this way is explained. One that is not is handed to verify_run, which tries every order that
 * causes allow; if it finds one, the runs are visited once more, now in causal order (verify_causal_order.h), with more and
 * more items that may lag: 1, 2, 4, 8, 16.
 *
 * Cost: exponential in the threads; states and memory are bounded.
 */
#ifndef INTACT_VERDICT_VERIFY_EXHAUSTIVE_H
#define INTACT_VERDICT_VERIFY_EXHAUSTIVE_H

#include "verdict/object_history.h"
#include "verdict/verify.h"

struct verify_exhaustive {
	uint64_t max_states;           /* of the search */
	enum verify_run_answer answer; /* EXPLAINED: all runs are; OPEN: not within 16; UNEXPLAINED: one is not */
	const char *limit;             /* VERIFY_LIMIT: which */
	uint64_t states;
	uint32_t behind;   /* items that could lag; 0: the order of time was enough */
	struct move *path; /* UNEXPLAINED: that run; malloc'ed */
	uint32_t npath;
};

/* `block`: the one that counts, or VERDICT_PROGRAM. */
void verify_exhaustive(struct verify_exhaustive *v, const struct ir *p, uint32_t block);

/*
 * The same for the histories of an object that is a register: does every one of them meet the condition (verify_object.c)?
 * EXPLAINED, UNEXPLAINED (the path leads to the answer that nothing allows) or LIMIT.
 */
void verify_exhaustive_object(struct verify_exhaustive *v, const struct ir *p, uint32_t object, enum object_condition condition);

#endif
