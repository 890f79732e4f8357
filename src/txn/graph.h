/*
 * graph: the order that a level forces on transactions, closed under what follows from it.
 *
 * Nodes: one for each transaction (serializability, dependencies alone) or two, its begin and its end (snapshot isolation, prefix);
 * see level.h. For real time a chain of further nodes stands for moments: an answer leads to the next moment, a moment to the invocations behind it.
 * Edges are given by the history (session, real time, wr, lists' orders) or derived:
 *
 *   missed:  b, a writer of x, comes before r, which read a's x. If a came before b, r would have missed b: so b comes before a.
 *   after:   a comes before b, both writers of x (snapshot isolation: a begins before b ends): so a transaction that read a's x comes before b.
 *
 *   certain: a comes before b by other edges; told in a report only.
 *
 * Every derived edge follows from edges with smaller numbers, so its reason can be found again when it is asked for.
 *
 * Reachability: the transactions are covered by chains (sessions; without session order, paths of given edges), and each node
 * has a clock: for each chain the last place of it that reaches the node. Writers and readers of a key are sorted by chain, so that a rule looks at
 * one writer of a chain, found by bisection; pairs of writers are never enumerated. Clocks grow monotonically; nodes whose clock grew wait in a
 * queue by their first topological rank. Cost: O(edges x chains) when the ranks stay valid. Memory: 4 bytes per node and chain.
 */
#ifndef INTACT_TXN_GRAPH_H
#define INTACT_TXN_GRAPH_H

#include "txn/deps.h"

enum family { FAMILY_SER, FAMILY_SI, FAMILY_PC, FAMILY_DEP };
enum edge_kind { EDGE_INSIDE, EDGE_SESSION, EDGE_REALTIME, EDGE_WR, EDGE_WW, EDGE_RW };
enum edge_why { WHY_GIVEN, WHY_MISSED, WHY_AFTER, WHY_CERTAIN };

struct gedge {
	uint32_t from, to; /* nodes */
	uint32_t next;     /* the next one of `from` + 1 */
	uint32_t key;      /* wr ww rw */
	uint32_t reason;   /* MISSED: the reader's read (index into deps.reads); CHOSEN: the literal */
	uint8_t kind, why;
};

/* A version with what the rules want of it: where in its chain its transaction stands, and where its last readers begin. */
struct sorted_version {
	uint32_t place, version, readers;
};

/* A version's last reader in a chain, and its place there. */
struct last_reader {
	uint32_t t, chain, place;
};

/* The writers of a key in one chain: a slice of `sorted`. */
struct txn_segment {
	uint32_t chain, first, end;
};

struct txn_graph {
	const struct deps *d;
	struct arena *arena;
	enum family family;
	enum txn_order order;
	unsigned with; /* enum graph_with */
	uint32_t nnodes, ntime;
	uint32_t *moment; /* by transaction: the node of the moment before it, or DEPS_NONE (real time) */
	int32_t *joined;  /* WITH_EARLIER: scratch, a clock */
	AVEC(struct gedge) edges;
	uint32_t *head;        /* by node: edge + 1 */
	uint32_t *rank, *topo; /* a topological order of the given edges */
	/* chains; nchains is 0 when there are too many for clocks */
	uint32_t nchains, width;       /* width: chains rounded up to a vector */
	uint32_t *chain, *place;       /* by transaction; the place counts from 0 */
	int32_t *clock;                /* [node * width + chain] */
	struct sorted_version *sorted; /* versions without the initial ones, by key, chain, place; one more behind them */
	uint32_t *seg_first;           /* by key */
	struct span *seg_at;           /* [key * nchains + chain]: its slice; NULL when keys have few segments */
	struct txn_segment *segs;
	struct last_reader *last_readers; /* the versions' last readers in each chain; those of sorted ones stand in that order */
	uint32_t *last_first, *last_end;  /* by version */
	uint64_t *dirty;                  /* by node: chains (modulo 64) that its clock grew in */
	uint64_t *queue[4];               /* ranks that wait, as bits with summaries */
	uint32_t levels;
	struct limits *lim;
	uint32_t cycle_edge; /* the edge that closed a cycle, or DEPS_NONE */
};

enum graph_status { GRAPH_OK, GRAPH_CYCLE, GRAPH_LIMIT };

static inline uint32_t graph_begin(const struct txn_graph *g, uint32_t t)
{
	return g->family == FAMILY_SI || g->family == FAMILY_PC ? 2 * t : t;
}
static inline uint32_t graph_end(const struct txn_graph *g, uint32_t t)
{
	return g->family == FAMILY_SI || g->family == FAMILY_PC ? 2 * t + 1 : t;
}
/* The transaction of a node, or DEPS_NONE for a moment. */
static inline uint32_t graph_txn(const struct txn_graph *g, uint32_t node)
{
	if (node >= g->nnodes - g->ntime)
		return DEPS_NONE;
	return g->family == FAMILY_SI || g->family == FAMILY_PC ? node / 2 : node;
}

/* What a graph has. */
enum graph_with {
	WITH_WR = 1,     /* edges from writers to readers */
	WITH_KNOWN = 2,  /* the known order of versions */
	WITH_MISSED = 4, /* the rules */
	WITH_AFTER = 8,
	WITH_UPDATES = 16,    /* no rw edges from transactions that only read (update-serializable) */
	WITH_SEEN = 32,       /* the rule `missed` counts only what a transaction sees by session, real time and wr (causal) */
	WITH_DIRECT = 64,     /* ... and only directly (read-atomic) */
	WITH_NO_CHAINS = 128, /* nothing but edges is wanted */
	WITH_EARLIER = 256    /* the rule `missed` counts only what operations before the read depend on (monotonic-view) */
};

/* A graph with the given edges. Memory is the arena's (out-of-memory longjmps). */
void graph_init(struct txn_graph *g, const struct deps *d, enum family f, enum txn_order o, unsigned with, struct arena *a,
                struct limits *lim);
/* Ranks; GRAPH_CYCLE: the given edges have a cycle. */
enum graph_status graph_rank(struct txn_graph *g);
/* Ranks of a graph without cycles that follow, where the edges allow it, when transactions were recorded: near to what happened. */
void graph_rank_by_hint(struct txn_graph *g);
/* All that follows by the rules; needs graph_rank. Without chains it does nothing. */
enum graph_status graph_saturate(struct txn_graph *g);
/* With clocks: does a path lead from u to v (u != v)? */
bool graph_reaches(const struct txn_graph *g, uint32_t u, uint32_t v);

/* With clocks, one node a transaction: the last version of the segment whose transaction reaches t (and is not t), or DEPS_NONE. */
uint32_t graph_last_before(const struct txn_graph *g, const struct txn_segment *s, uint32_t t);

/* Adds an edge without looking at clocks. */
uint32_t graph_edge(struct txn_graph *g, uint32_t from, uint32_t to, enum edge_kind kind, enum edge_why why, uint32_t key,
                    uint32_t reason);
/* The edges of a shortest path from u to v by edges with numbers below `before`, as an arena array; *n = 0: none. */
uint32_t *graph_path(const struct txn_graph *g, uint32_t u, uint32_t v, uint32_t before, uint32_t *n);
/* The same for the way by which the reader of `read` (of deps) comes after the version that it must not miss, as the graph's rule `missed` has
 * it. */
uint32_t *graph_reason(const struct txn_graph *g, uint32_t u, uint32_t read, uint32_t before, uint32_t *n);
/* The transaction of a read. */
uint32_t graph_reader(const struct deps *d, uint32_t read);
/* The k-th edge by which the reader comes after what counts for this read (WITH_EARLIER), or DEPS_NONE: there are no more. */
uint32_t graph_earlier_edge(const struct txn_graph *g, uint32_t read, uint32_t k);
/* After GRAPH_CYCLE: the edges of a short cycle, as an arena array. */
uint32_t *graph_cycle(struct txn_graph *g, uint32_t *n);

#endif
