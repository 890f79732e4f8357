/*
 * serializable: is this one execution explained by a serial one?
 *
 * Executions that differ only in the order of independent adjacent steps are
 * one execution (Mazurkiewicz). Two steps of different threads conflict when
 * both touch a shared variable, element or lock, by what they really did, and
 * one of them writes it; entering and leaving a block, and local steps, touch
 * nothing. The *items* of an execution are its block instances and its steps
 * outside every block. In some equivalent execution the items can take effect
 * in the order L, each between its entry and its exit, exactly when L puts X
 * before Y wherever the end of X causally precedes the beginning of Y: then
 * the moments of effect, in the order L, and the causal order of the steps
 * have no cycle together, because a cycle would have to pass from an end to a
 * beginning that L has the other way round.
 *
 * So: a search over *cuts* (how many items each thread has taken effect with) and
 * serial states, item by item, breadth first; all items of one layer have the same
 * number of predecessors. What an item must come after is a cut too, since a thread
 * that knows the end of an item knows the ends of all earlier ones of its thread. An
 * item that touches nothing shared commutes with everything and is taken as soon as
 * it can be.
 *
 * Cost: bounded by SERIALIZABLE_POINTS (cut, state) pairs and by `bytes`; beyond, -1.
 */
#ifndef INTACT_EXPLORE_SERIALIZABLE_H
#define INTACT_EXPLORE_SERIALIZABLE_H

#include "verdict/verdict.h"

#define SERIALIZABLE_POINTS 1000000u
#define SERIALIZABLE_BYTES  ((uint64_t)256 << 20) /* of the pairs, when the caller does not say (bytes 0) */

/*
 * 1 explained, 0 not, -1 unknown: a limit was reached, or the moves are not
 * possible or do not end with all threads outside. Only the moves from
 * number `from` on count, the state before that being the initial one
 * (there, too, all threads must be outside). `block`: the one that counts
 * or VERDICT_PROGRAM.
 */
int serializable_path(const struct ir *ir, uint32_t block, const struct move *path, uint32_t n, uint32_t from, uint64_t bytes);

/*
 * The states in which serial executions of the same items end, at most `max`
 * of them, ir->nstate values each, in *states (malloc'ed); how many there are
 * in *nstates. False when a limit was reached.
 */
bool serializable_ends(const struct ir *ir, uint32_t block, const struct move *path, uint32_t n, uint32_t max, uint64_t bytes,
                       int32_t **states, uint32_t *nstates);

/*
 * Whether no serial execution of the same items terminates, and only because
 * blocks do not finish when they run alone: wherever it cannot continue, the
 * possible next items are blocks that wait (PROBLEM_STUCK) or loop forever
 * (PROBLEM_ENDLESS), and outside steps that wait. Then the first such block
 * met: its thread and the whole state in which it is (malloc'ed).
 * PROBLEM_NONE otherwise, or when a limit is reached.
 */
enum verdict_problem serializable_stuck(const struct ir *ir, uint32_t block, const struct move *path, uint32_t n, uint64_t bytes,
                                        uint32_t *thread, int32_t **state);

#endif
