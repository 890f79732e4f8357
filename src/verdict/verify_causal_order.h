/*
 * verify_causal_order: is every run of a model explained, when causes alone give the order? The second half of verify_exhaustive.h.
 *
 * Executions that differ in the order of independent adjacent steps are one execution, so a block or a step outside must come
 * before another in the serial order only when its end causally precedes the other's beginning (verify.h). A state of the search is
 * an interleaved state with the set of serial executions that can still explain it, each of which may lag by up to `most` items
 * that have ended (pending_items.h):
 *   - A step outside happens at once, if no late item comes before it, or becomes late.
 *   - A block happens, in one piece, at any moment after its entry at which no late item comes before it. At its exit it has
 *     happened, or becomes late.
 *   - A late item happens at any moment at which no other late item comes before it.
 *   - A step outside stays outside and a block is the same block; what else they do depends on the serial execution.
 *   - When all threads are outside, the state of the run must be among the serial ones that do not lag.
 *
 * Why EXPLAINED is true: every member of a set is a serial execution of the items of every run that leads to the state with this
 * set, in an order that respects the causes of that run, because what a late item carries is exactly what comes after its end
 * (steps of the same thread, and conflicts, one after another). The next set depends on the state, the set and the step alone, so
 * runs that agree in both need not be distinguished. Why UNEXPLAINED is true: the run is handed to verify_run, which tries every
 * order. At a given `most` some runs may have no explanation although they have one with more pending items: OPEN.
 */
#ifndef INTACT_VERDICT_VERIFY_CAUSAL_ORDER_H
#define INTACT_VERDICT_VERIFY_CAUSAL_ORDER_H

#include "verdict/verify_exhaustive.h"

/* `last`: no wider search follows, so go on after a run that is explained otherwise, in search of one that is not. */
void verify_causal_order(struct verify_exhaustive *v, const struct ir *p, uint32_t block, uint32_t most, bool last);

#endif
