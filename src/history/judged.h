/*
 * judged: a history that was judged, as data: what was asked, and what each of
 * its objects came to. The algorithms (src/lin) fill it in, reports read it.
 */
#ifndef INTACT_HISTORY_JUDGED_H
#define INTACT_HISTORY_JUDGED_H

#include "base/buf.h"
#include "history/problem.h"

enum lin_verdict { LIN_HOLDS, LIN_VIOLATED, LIN_UNKNOWN, LIN_REFUSED };

enum algorithm {
	ALG_AUTO,
	ALG_SOAR,
	ALG_CLMT,
	ALG_GREEDY,
	ALG_BACKWARD,
	ALG_ZONES,
	ALG_DIRECT,
	ALG_PAIRS,
	ALG_SEARCH,
	ALG_DFS,
	ALG_BFS,
	ALG_BRUTE
};
extern const char *const algorithm_names[];

#define MAX_STATES_SHOWN 4

struct result {
	enum lin_verdict verdict;
	enum algorithm algorithm;
	const char *why;     /* static: why it was refused, or chosen */
	uint32_t refused[2]; /* the operations that made it refuse, or RANK_INF */
	uint32_t *order;     /* holds: the operations in their order */
	uint32_t norder;     /*   (regular, safe: order[i] = the write read i saw) */
	uint32_t culprit;    /* violated: with its response it was certain */
	bool moment_open;    /*   or perhaps with an earlier one, never a later */
	enum proof proof;
	uint32_t *ops; /* the facts of the proof */
	uint32_t nops;
	uint32_t window;                /* rank where the failing window begins */
	char *states[MAX_STATES_SHOWN]; /* EXHAUSTED: what the object may be when the culprit */
	uint32_t nstates;               /*   returns, without it; 0: not known */
	bool more_states;               /*   and others */
	uint64_t steps;                 /* configurations or steps, for the curious */
	size_t order_bytes, ops_bytes;
	struct limits *lim;
};

struct lin_check_options {
	enum condition condition;
	enum algorithm algorithm;
	uint32_t k; /* k-atomicity; 1: atomicity */
	bool k_min; /* find the least k */
	bool delta; /* find the least staleness */
	bool order; /* an order is wanted, also from assertions that have none */
	uint32_t jobs;
	uint64_t max_steps; /* of the search of a part; 0: no bound */
	/* Of the parts, in the order of their first operations, only every shards-th, from the one with the number `shard` (from 0)
	 * on; shards 0: all. */
	uint32_t shard, shards;
};

/* One object. Numbers of operations in `r` are those of the history. */
struct part {
	val key;      /* VAL_NONE: the history has one object */
	bool element; /* key is an element of a set, `outer` the key */
	val outer;
	uint32_t n, first;  /* operations; where they start in check.ops */
	uint32_t ended;     /* violated: completed operations before it was certain */
	uint32_t window_op; /* violated: first operation of the failing window */
	struct result r;
	uint32_t k;    /* k_min: the least k; 0: none */
	int64_t delta; /* the least staleness; -1: none */
	bool skipped;  /* undecided, and another part settles the verdict */
};

struct check {
	enum lin_verdict verdict;
	struct part *parts;
	uint32_t nparts;
	uint32_t all_parts; /* with those of other shards */
	uint32_t *ops;      /* operations grouped by part; NULL: one part, in order */
	size_t bytes_parts, bytes_ops;
	uint32_t nviolated, nunknown, nskipped;
	uint32_t k; /* k_min: over all parts */
	int64_t delta;
};

/* Writes why a part is violated, one or two sentences (report/history_text.h). */
typedef void proof_text(const struct history *h, const struct interpretation *in, const struct lin_check_options *o,
                        const struct part *part, struct buf *out);

#endif
