/*
 * minimize_run: the same counterexample with fewer context switches, and a shorter
 * one where there is one nearby.
 *
 * Reordering: an execution with its steps in another order that keeps each
 * thread's own order and that of conflicting steps is the same execution: it
 * ends in the same state and has the same explanations. Among all those the
 * one with the fewest switches is found exactly, by dynamic programming over
 * cuts (how far each thread is) and the thread that moved last.
 *
 * Searching: then all executions with fewer switches still, and not more
 * steps, are tried (depth first, the switches bounded, beginning with none);
 * the first that no serial order explains is taken. There are few of them
 * when switches are few. Both are bounded (MINIMIZE_RUN_POINTS, MINIMIZE_RUN_TRIES); beyond,
 * what has been found so far stays.
 */
#ifndef INTACT_EXPLORE_MINIMIZE_RUN_H
#define INTACT_EXPLORE_MINIMIZE_RUN_H

#include "verdict/verdict.h"

#define MINIMIZE_RUN_POINTS 200000u             /* cuts */
#define MINIMIZE_RUN_STEPS  400000u             /* taken while searching */
#define MINIMIZE_RUN_TRIES  10000u              /* executions decided */
#define MINIMIZE_RUN_BYTES  ((uint64_t)8 << 20) /* of memory for one of them */

/* Reorders the moves in place; a last step that goes wrong stays the last. */
void minimize_run_order(const struct ir *ir, struct move *path, uint32_t n);

/* For a violation of atomicity: reorders, then looks for a better one, which
 * takes the place of the first n moves. Returns how many moves there are. */
uint32_t minimize_run_violation(const struct ir *ir, uint32_t block, struct move *path, uint32_t n);

/* How often another thread goes on. */
uint32_t minimize_run_switches(const struct move *path, uint32_t n);

#endif
