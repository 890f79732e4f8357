/*
 * decide: does a history satisfy a level?
 *
 * Direct anomalies first; then the graph of the level with what follows from it; then, where the order of versions matters and is open, a search. The answer
 * is exact: holds comes with an order, violated with a direct anomaly, a cycle, or the statement that no order exists.
 */
#ifndef INTACT_TXN_DECIDE_H
#define INTACT_TXN_DECIDE_H

#include "txn/graph.h"
#include "txn/proof.h"

enum txn_verdict { TXN_HOLDS, TXN_VIOLATED, TXN_UNDECIDED };

/* One step of a cycle: transactions (dense numbers of deps). */
struct cycle_edge {
	uint32_t from, to;
	uint8_t kind; /* enum edge_kind, EDGE_INSIDE never */
	uint8_t why;  /* enum edge_why */
	uint32_t key;
	uint32_t reader;  /* MISSED: the transaction whose read of `to`'s version forces it; else DEPS_NONE */
	uint32_t version; /* rw: the version that was read; else DEPS_NONE */
	/* Derived edges: the way by which `from` comes before the reader (MISSED), or the version read (rw), `from` (ww) before `to`. Not
	 * there when it would be too long to tell. */
	struct cycle_edge *because;
	uint32_t nbecause;
};

struct decision {
	struct isolation level;
	enum txn_verdict verdict;
	const struct anomaly *direct; /* violated by this, or NULL */
	struct cycle_edge *cycle;     /* violated by this, or NULL: no order at all (the search says) */
	uint32_t ncycle;
	enum anomaly_kind name; /* violated: what it is called */
	uint32_t *order;        /* holds: nodes (graph.h) in their order, of `family` */
	uint32_t norder;
	enum family family;
	uint64_t conflicts;
	uint32_t pairs; /* pairs of versions that the search had to order */
	struct txn_proof
		*proof;    /* violated by a cycle or a search, when a proof was asked for: NULL or too_long when there is none */
	const char *limit; /* undecided: "time", "memory", "pairs", "conflicts", "ambiguous", "counter-reads" */
};

struct txn_decide_options {
	uint64_t max_conflicts; /* a search gives up then, or after as much work (undecided, "conflicts"); 0: it does not */
	bool prove;             /* violations with a proof */
	bool thorough; /* for tests: a search works out from the start what follows from each choice; else it does when that is worth while */
	bool contrary; /* for tests: it tries the order first that seems wrong */
};

/* What is kept of the decision is in `keep`, scratch memory of its own is freed. */
void txn_decide(const struct deps *d, struct isolation level, struct txn_decide_options opts, struct arena *keep,
                struct limits *lim, struct decision *out);

#endif
