/*
 * exact: atomicity as docs/language.md defines it, with no commit points.
 *
 * Breadth-first over pairs of an interleaved state and the set of shadows
 * that still explain it (shadows.h). A quiescent state that is not in its
 * own set is a *suspicion*, and the execution that led there is then decided
 * by itself, exactly (serializable.h): when no serial order explains it, it is a
 * violation. When one does, the search has left something out, goes back to
 * the start and leaves out less. What it leaves out, in this order:
 *
 *   lag: at first shadows keep up with reality (K = 0), then they may lag by 1,
 *   2, 4, 8 and 16 items. At the end the answer is unknown (limit: lag).
 *
 *   forgetting: a quiescent state that is explained restarts with itself as the
 *   only shadow. Turned off when the part of the execution since the last such
 *   start is not explained by itself though the whole is.
 *
 * Nothing is decided for a path and then applied to others: a set changes
 * only by the rules of shadows.h, so each shadow of a state is a serial
 * execution of the items of the path that led to it, in a causally allowed
 * order, whatever was forgotten or dropped. Hence *atomic* is said only when
 * every reachable quiescent state had a shadow that is that state:
 * each of its executions is explained, piece by piece between the fresh
 * starts (all items of a piece end before those of the next begin, so the
 * explanations one after the other are one). Two paths to the same state with
 * the same set have the same future, since sets evolve by the events alone.
 * And *violated* is said only of a path that was decided by itself.
 *
 * A suspicion that arose from forgetting: the explained part before the last
 * fresh start is replaced by a serial execution that reaches the same state,
 * where there is less to reorder; that path too is decided by itself.
 *
 * Symmetry: states that differ by a permutation of identical threads are
 * one, with their shadows permuted along: a permutation of threads of one
 * template maps steps to steps, conflicts to conflicts, serial executions to
 * serial executions.
 */
#ifndef INTACT_EXPLORE_EXACT_H
#define INTACT_EXPLORE_EXACT_H

#include "explore/search.h"

/* Same contract as search_run; SEARCH_WRONG is a violation of atomicity. */
void exact_run(const struct ir *ir, uint32_t block, const struct search_options *o, struct search_result *r);

/*
 * Is this one execution explained? 1 yes, 0 no, -1 unknown (a limit). The
 * moves must be possible and end in a quiescent state. Here and below, `bytes`
 * bounds the memory; 0: a default.
 */
int exact_explains(const struct ir *ir, uint32_t block, const struct move *path, uint32_t n, uint64_t bytes);

/*
 * The states that serial executions of the same block instances can end in,
 * at most `max` of them: whole states of ir->nstate values each, one after
 * the other in *states (malloc'ed). How many there are in *n.
 */
bool exact_alternatives(const struct ir *ir, uint32_t block, const struct move *path, uint32_t n, uint32_t max, uint64_t bytes,
                        int32_t **states, uint32_t *nstates);

/*
 * Looks, not for long and not beyond the deadline (0: none), for a violation
 * with fewer moves than these (which is then one of the shortest); *path and
 * *n are replaced when there is one.
 */
void exact_shorten(const struct ir *ir, uint32_t block, double deadline, uint64_t bytes, struct move **path, uint32_t *n);

/*
 * For an execution that has no serial end at all: PROBLEM_STUCK or
 * PROBLEM_ENDLESS when that is because blocks do not finish alone, with the
 * first of them (its thread, and the state it is in; malloc'ed); else
 * PROBLEM_NONE.
 */
enum verdict_problem exact_stuck(const struct ir *ir, uint32_t block, const struct move *path, uint32_t n, uint64_t bytes,
                                 uint32_t *thread, int32_t **state);

#endif
