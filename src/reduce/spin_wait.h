/*
 * spin_wait: loops that wait for a lock coded by hand in more than one step, as test and test-and-set does:
 *
 *   while (exchange(m, true))        while (true) {
 *     while (m) { }                    while (m) { }
 *                                      if (cas(m, false, true)) break;
 *                                    }
 *
 * A *waiting loop* of the candidate v is a set of nodes of one block whose steps access only v, always continue, and either
 * change nothing but the thread's place, which stays in the set, or make v 1 when it was 0, and this only at one node, the
 * *taker*. While v is 0 the thread goes from every node of the set to the taker, in one way.
 *
 * Then the steps that change nothing may be removed from an execution in which the loop is left, except those on the way from
 * where the loop was entered to the taker, and these may be put directly before the step that takes v: v is 0 there, so they lead
 * to the taker, and they write nothing (a local that is reset on the way is dead at the taker). What results is an execution with
 * the same steps of all other threads in the same order and the same end. In it the thread enters the loop and leaves it by one
 * indivisible taking of the lock, which is what a loop around one pure try gives (flow.h): so these nodes are tries, and no
 * observers. As there, the argument is about blocks in question only; flow_private ensures that.
 *
 * The greatest such set is found by removing nodes until nothing is left to remove, in a bounded number of rounds.
 * Cost: linear in the program.
 */
#ifndef INTACT_REDUCE_SPIN_WAIT_H
#define INTACT_REDUCE_SPIN_WAIT_H

#include "reduce/flow.h"

/* Fills f->waits from f->focus, f->special and f->edges. */
void spin_wait_find(struct flow *f);

#endif
