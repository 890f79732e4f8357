/*
 * search: breadth-first exploration of a product (see product.h), level by
 * level, so that the first violation found is one of the shortest.
 *
 * Any number of threads share the store (store.h) and the tables of the
 * product. A level is a list of chunks, which they take; what is new goes
 * into chunks of the next. Where something has to be done alone (a table
 * grows, a field becomes wider, a level ends, a limit is looked at) they
 * meet: the last to arrive does it while the others wait.
 *
 * States and transitions are the same for any number of threads. A violation
 * is searched for again by one thread, which also records how states were
 * reached: so the path and the counts do not depend on the number of threads
 * either. (The second search ends no deeper than the first.)
 *
 * Thread symmetry: threads of one kind that have the same template are
 * interchangeable (no value names a thread), so their fields are kept sorted;
 * two states that differ by a permutation are one. Sound because a
 * permutation of such threads maps steps to steps, blocks to blocks and the
 * shadow's frames along with the frames.
 */
#ifndef INTACT_EXPLORE_SEARCH_H
#define INTACT_EXPLORE_SEARCH_H

#include "explore/checkpoint.h"
#include "explore/product.h"
#include "verdict/verdict.h"

enum search_verdict {
	SEARCH_HOLDS,
	SEARCH_WRONG, /* quiescent, and the shadow differs: rule [wrong] */
	SEARCH_FAULT,
	SEARCH_DEADLOCK,
	SEARCH_SHADOW_STUCK, /* a block cannot finish when it runs serially */
	SEARCH_SHADOW_ENDLESS,
	SEARCH_SHADOW_FAULT,
	SEARCH_LIMIT, /* see `limit` */
};

struct search_options {
	bool symmetry, merge_local, drop_pure, transactions; /* reductions */
	uint32_t jobs;                                       /* threads that explore; 0 is 1 */
	uint64_t jobs_from;                                  /* states from which on there are so many; 0: a default */
	uint32_t chunk;                                      /* states a thread takes at a time; 0: a default */
	uint32_t few;                                        /* of each template only so many threads move; 0: all.
	                                        * A violation is still one of the program. */
	bool deadlock;                                       /* look for deadlocks */
	bool faults;                                         /* a fault is a violation; else its step is left out */
	uint64_t max_states, max_bytes;                      /* 0: no bound; the first is looked at between levels */
	double deadline;                                     /* CLOCK_MONOTONIC seconds; 0: none */
	void (*progress)(void *arg, uint64_t states, uint64_t transitions, uint32_t depth, uint64_t bytes);
	void *progress_arg;
	struct checkpoint *checkpoint; /* or NULL; see checkpoint.h */
};

struct search_result {
	enum search_verdict verdict;
	const char *limit; /* SEARCH_LIMIT: "states", "memory", "time", "step", "interrupt" */
	uint64_t states, transitions, bytes;
	uint32_t depth;
	struct move *path; /* from the initial state; malloc'ed */
	uint32_t npath;
};

void search_run(const struct ir *ir, enum prod_mode mode, uint32_t block, const struct labelling *lab,
                const struct search_options *o, struct search_result *r);
void search_result_free(struct search_result *r);

#endif
