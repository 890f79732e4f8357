/*
 * commit: commit-atomicity, with the source's `commit;` marks or with commit
 * points found by search.
 *
 * A labelling gives each block without marks one *cut*: up to two places,
 * each the steps from one node (to all its successors, or to one of them: the
 * compare-and-swap that succeeded), of which the first that a run of the
 * block takes is its commit; or the entry; or the exit. Candidates are tried
 * last write first, one place before two. A search that goes wrong leaves a
 * trace; deciding that one trace exactly (exact_explains) shows whether it is
 * a violation or only a bad commit point. In the second case every labelling
 * that orders the commits on that trace in the same way is wrong too and is
 * not tried.
 */
#ifndef INTACT_EXPLORE_COMMIT_H
#define INTACT_EXPLORE_COMMIT_H

#include "explore/search.h"

struct commit_point { /* of one block, for the report */
	enum { COMMIT_MARKED, COMMIT_STEP, COMMIT_ENTRY, COMMIT_EXIT } kind;
	uint32_t n; /* places of COMMIT_STEP */
	struct {
		uint32_t node, succ;
	} at[2]; /* succ IR_NONE: whatever it leads to */
};

struct commit_result {
	struct search_result search;  /* of the last labelling tried */
	bool no_labelling;            /* none works; nothing is said about atomicity */
	bool violation;               /* a trace that no serial order explains */
	struct commit_point *points;  /* by block; malloc'ed */
	uint32_t tried, pruned;       /* labellings */
	uint64_t states, transitions; /* of all searches together */
};

/* `block`: the one that counts, or PROD_BLOCK_ALL. */
void commit_run(const struct ir *ir, uint32_t block, const struct search_options *o, struct commit_result *r);
void commit_result_free(struct commit_result *r);

#endif
