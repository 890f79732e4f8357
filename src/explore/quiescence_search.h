/*
 * quiescence_search: can the threads always leave their blocks?
 *
 * Atomicity is defined for executions that end with all threads outside
 * blocks. A state from which no such state can be reached any more is seen by
 * no notion of it: two threads that hold each other's lock forever, a block
 * that waits for something that never happens. So it is looked for by itself:
 * all states are explored and the transitions kept, then, backwards from the
 * quiescent states, all that can get there are marked; what is left is lost.
 * States are found breadth first, so the first one left is among the nearest.
 *
 * A step that goes wrong counts as a way out (a fault is reported as that).
 * Identical threads are kept sorted; no other reduction is used, since those
 * that merge entering a block with the following step would hide a thread that
 * has entered and waits forever.
 *
 * Cost: 4 (threads + 1) bytes per state and 8 per transition, both bounded:
 * beyond QUIESCENCE_STATES states (or the options' own limits) the answer is
 * SEARCH_LIMIT.
 */
#ifndef INTACT_EXPLORE_QUIESCENCE_SEARCH_H
#define INTACT_EXPLORE_QUIESCENCE_SEARCH_H

#include "explore/search.h"

#define QUIESCENCE_STATES 2000000u

enum quiescence_answer { QUIESCENCE_ALWAYS, QUIESCENCE_LOST, QUIESCENCE_LIMIT };

/* QUIESCENCE_LOST: r->path leads to a lost state. QUIESCENCE_LIMIT: r->limit. */
enum quiescence_answer quiescence_search(const struct ir *ir, const struct search_options *o, struct search_result *r);

#endif
