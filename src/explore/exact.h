/*
 * exact: atomicity as LANGUAGE.md defines it, with no commit points.
 *
 * Breadth-first over pairs of an interleaved state and the set of shadows
 * that still explain it (shadows.h). A quiescent state that is not in its
 * own set is a violation: no serial execution of the same block instances,
 * each taking effect between its entry and its exit, ends there.
 *
 * Forgetting. Where no step chooses, a quiescent state that is explained
 * starts anew with itself as the only shadow. Verdicts are the same: the
 * explanation is a serial execution s1 that reaches the state; in a serial
 * execution nothing happens inside a block's window but the block, so s1 has
 * no shadow but the state itself; and what cannot be explained from there on
 * makes s1 followed by it a violation. The counterexample is then built with
 * s1 in front when the one found has another explanation.
 */
#ifndef INTACT_EXPLORE_EXACT_H
#define INTACT_EXPLORE_EXACT_H

#include "explore/search.h"

/* Same contract as search_run; SEARCH_WRONG is a violation of atomicity. */
void exact_run(const struct ir *ir, uint32_t block, const struct search_options *o,
               struct search_result *r);

/*
 * Is this one execution explained? 1 yes, 0 no, -1 unknown (a limit). The
 * moves must be possible and end in a quiescent state.
 */
int exact_explains(const struct ir *ir, uint32_t block, const struct move *path, uint32_t n);

/*
 * The states that serial executions of the same block instances can end in,
 * at most `max` of them: whole states of ir->nstate values each, one after
 * the other in *states (malloc'ed). How many there are in *n.
 */
bool exact_alternatives(const struct ir *ir, uint32_t block, const struct move *path, uint32_t n,
                        uint32_t max, int32_t **states, uint32_t *nstates);

#endif
