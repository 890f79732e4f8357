/*
 * cover: causal atomicity and causal serializability without unfolding, for a
 * fixed number of threads and for any number.
 *
 * Two questions about the net of a program:
 *
 * 1. Is a block causally atomic (Definition 3)? Not, when in some run an
 *    occurrence of it has events g < h and an event f of another thread with
 *    g < f < h in the causal order.
 * 2. Are the blocks serializable by causal edges? Take a run's items: the
 *    occurrences of blocks, and each step outside of them by itself. X -> Y
 *    when an event of X is causally before one of Y. Not serializable, when
 *    that relation has a cycle through two items or more.
 *
 * One search answers both. Taint. At an event inside a block a thread may
 * *promise* that this occurrence will be found to be after itself; from then
 * on what it does is tainted. Taint is inherited along causality. A promise is
 * *kept* when an event of the occurrence, after the promising one, inherits
 * taint other than its own alone; an occurrence whose promise is not kept may
 * not end. *Red*: there was a promise, and all are kept.
 *
 * Red is reachable iff there is a cycle. (=>) Every promised occurrence has an
 * event after an event of a promised occurrence: of another one, or of itself
 * with an event of another thread, so of another item, in between. A finite
 * set in which everyone has a predecessor has a cycle. (<=) On a cycle of
 * items let X come in at event f and go out from event g. Where f <= g for
 * all X, the cycle would be one of the causal order, which has none; so the
 * set P of those with g < f is not empty, and they are occurrences of blocks,
 * since other items have one event. Let exactly P promise, each at or before its g. Between two of
 * P that follow each other on the cycle taint is inherited along: out of one
 * from g on, through items with f <= g, into the next at its f. All promises
 * are kept. With two occurrences of one thread on a cycle the earlier can go
 * out where the later did, so each thread needs one promise at a time.
 * For question 1, allow promises for the one block and one at a time: the
 * promise is kept iff g < f < h as above, because with a single promise all
 * taint that is not the thread's own came through an event of another thread.
 *
 * A promise is made at the first event of the occurrence that touches a cell
 * (earlier events have no successors but the thread's own).
 *
 * What has to be known for that. Colours: A no taint, B(i) taint of pending promise i by its own
 * thread alone, Y any other taint; join(B(i), B(j)) = Y. A variable has the pair (w, r) of
 * colour.h, by the argument given there. The thread of promise i has colour B(i); every other
 * thread A or Y. So a state is: for each cell its value and (w, r); the spots of the threads with
 * pending promises; and for all other threads only *how many* are in each spot with each colour,
 * because threads of a template in the same spot have the same future. When a promise is kept, its
 * B(i) becomes Y and its thread one of the others.
 *
 * Any number of threads: the counters of templates with any number start at
 * omega. A step needs one thread in a spot and moves it, so the system is a
 * vector addition system with states, monotone in the counters, and the search
 * is Karp and Miller's: a state that is covered by one seen before (same cells
 * and promises, counters at least as large) is not continued; where a state
 * covers one of its own ancestors the larger counters become omega. It ends
 * by Dickson's lemma, visits a covering state for every reachable one, and
 * every omega state is approximated by reachable ones; red depends on a
 * finite number of threads, so it is found iff some number of threads reaches
 * it. Not continuing covered states loses nothing: what was seen first steps
 * to states that cover all that is left out, and a chain of such
 * references goes strictly back in time. The least number of threads is then found by
 * searching fixed numbers in the order of their sum.
 *
 * The search is breadth first: with fixed numbers the run that is found has
 * the fewest steps.
 */
#ifndef INTACT_CAUSAL_COVER_H
#define INTACT_CAUSAL_COVER_H

#include "causal/program.h"

#define COVER_ANY        UINT32_MAX /* a number of threads; a block: all of them */
#define COVER_MAX_OWNERS 8u

enum cover_status { COVER_SAFE, COVER_RED, COVER_LIMIT };

struct cover_options {
	uint32_t block;                 /* whose occurrences may promise; COVER_ANY: all blocks' */
	uint32_t owners;                /* promises pending at a time; 1 for question 1 */
	const uint32_t *count;          /* threads of each template; COVER_ANY: any number */
	uint64_t max_states, max_bytes; /* 0: none */
	double deadline;                /* CLOCK_MONOTONIC seconds; 0: none */
};

struct cover_move {
	uint32_t action;
	uint32_t owner; /* by the thread of this pending promise, or IR_NONE */
	bool yellow;    /* else: by one of this colour */
	bool promise;   /* it promises here */
};

struct cover_result {
	enum cover_status status;
	const char *limit; /* "states", "memory", "time", "promises" */
	uint64_t states, transitions, bytes;
	/* COVER_RED: a run to it, and the numbers of threads it is of. */
	struct cover_move *path;
	uint32_t npath;
	uint32_t *count; /* a template */
	bool smallest;   /* no smaller number of threads in all has such a run */
};

/* cover_result_free is due whatever comes out. */
void cover_run(const struct program *g, const struct cover_options *o, struct cover_result *r);
void cover_result_free(struct cover_result *r);

#endif
