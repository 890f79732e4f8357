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
 *
 * With `ranks`, a large search is shared with other processes (search_dist.h), with the same result.
 *
 * With a `disk`, a search that does not fit into memory goes on there (search_disk.h), with the same result.
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

struct disk_place {     /* where searches that do not fit into memory go on */
	int dir;        /* descriptor of a directory */
	uint64_t limit; /* bytes of all files; 0: none */
	uint64_t from;  /* states from which on a search is there, whatever memory there is; 0: at the memory limit */
	uint64_t keys;  /* states a thread collects before they are written; 0: as many as max_bytes has room for */
	void (*begun)(void *arg, uint64_t states); /* or NULL: a search goes on there */
	void *arg;
	uint64_t most;  /* told back: bytes that the files had at most, */
	struct why why; /* and why a search ended there with the limit "disk" */
};

struct search_ranks { /* processes that take part in large searches (search_dist.h) */
	struct dist *dist;
	uint64_t from;  /* states from which on they do; 0: a default */
	uint32_t batch; /* states sent at once; 0: a default */
	/* told back: */
	uint32_t shared;              /* searches that were shared */
	uint64_t states, bytes;       /* that this rank has sent for them */
	uint64_t agreements, layouts; /* how often ids were agreed, how often states were distributed again for wider fields */
	struct why why;               /* why a search could not be shared, or ended with the limit "ranks" */
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
	struct disk_place *disk;       /* or NULL */
	struct search_ranks *ranks;    /* or NULL */
};

struct search_result {
	enum search_verdict verdict;
	const char *limit; /* SEARCH_LIMIT: "states", "memory", "disk", "time", "step", "interrupt", "ranks" */
	uint64_t states, transitions, bytes;
	uint32_t depth;
	struct move *path; /* from the initial state; malloc'ed */
	uint32_t npath;
};

void search_run(const struct ir *ir, enum prod_mode mode, uint32_t block, const struct labelling *lab,
                const struct search_options *o, struct search_result *r);
void search_result_free(struct search_result *r);

#endif
