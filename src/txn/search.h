/*
 * search: is there an order of the versions that a saturated graph leaves open, such that the level holds?
 *
 * A variable for pairs of versions of one key that nothing orders: where the absence of cycles is all (SER, SI, PC), only for those
 * that the order at hand puts wrongly, one batch after the other, until it explains every read; else for all of them. The clauses are the level's, found as they are violated:
 * a cycle in the graph with the edges of what was chosen (found when the edge is put in, by a topological order that is kept up to date: Pearce
 * and Kelly 2006), and for levels that are more than the absence of cycles (level.h) a look at the whole graph once everything is chosen.
 */
#ifndef INTACT_TXN_SEARCH_H
#define INTACT_TXN_SEARCH_H

#include "txn/graph.h"
#include "txn/proof.h"

enum txn_search_answer { TXN_SEARCH_FOUND, TXN_SEARCH_NONE, TXN_SEARCH_LIMIT };

struct txn_search_result {
	uint32_t *order; /* found: the nodes of the graph in an order that has every edge */
	uint64_t conflicts;
	uint32_t pairs; /* open pairs of versions */
	/* TXN_SEARCH_NONE whatever is chosen: the edges by which version b leads to transaction missed_by, which read the older a. */
	uint32_t *missed, nmissed, missed_by, missed_a, missed_b;
	uint32_t missed_from; /* where the edges end: missed_by, or a transaction that wrote a key before it for certain */
	uint32_t missed_key;  /* ... of this key */
	bool found_missed;
	bool too_many; /* TXN_SEARCH_LIMIT: more pairs than SEARCH_MAX_PAIRS */
};

#define SEARCH_MAX_PAIRS (1u << 26)

/* Is there room for a thorough search, and does the level have one? (The absence of cycles is all: SER, SI, PC.) */
bool search_propagates(const struct txn_graph *g, enum txn_level level);

enum search_how {
	SEARCH_QUICK = 0,
	SEARCH_THOROUGH =
		1, /* what follows from what was chosen is worked out (search_propagate.c), if search_propagates: far fewer conflicts, which cost more */
	SEARCH_CONTRARY = 2 /* tries the order first that seems wrong: for tests, that there are conflicts */
};

/* how: enum search_how.
 * max_conflicts: gives up then; 0: never. g: saturated, or ranked at least; without a cycle. Memory is the graph's arena's. `pairs` is scratch that the caller frees, also
 * after a longjmp. `prover`, or NULL: hears why there is none. */
enum txn_search_answer search_order(struct txn_graph *g, enum txn_level level, unsigned how, uint64_t max_conflicts,
                                    struct map *pairs, struct prover *prover, struct txn_search_result *r);

#endif
