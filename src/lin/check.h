/*
 * check: a whole history judged: split by key (and sets by element), each
 * part by the algorithm that fits, parts shared out among threads.
 */
#ifndef INTACT_LIN_CHECK_H
#define INTACT_LIN_CHECK_H

#include "lin/lin.h"

struct lin_check_options {
	enum condition condition;
	enum algorithm algorithm;
	uint32_t k;       /* k-atomicity; 1: atomicity */
	bool k_min;       /* find the least k */
	bool delta;       /* find the least staleness */
	bool order;       /* an order is wanted, also from assertions that have none */
	uint32_t jobs;
	uint64_t max_steps; /* of the search of a part; 0: no bound */
};

/* One object. Numbers of operations in `r` are those of the history. */
struct part {
	val key;           /* VAL_NONE: the history has one object */
	bool element;      /* key is an element of a set, `outer` the key */
	val outer;
	uint32_t n, first; /* operations; where they start in check.ops */
	uint32_t ended;    /* violated: completed operations before it was certain */
	uint32_t window_op;/* violated: first operation of the failing window */
	struct result r;
	uint32_t k;        /* k_min: the least k; 0: none */
	int64_t delta;     /* the least staleness; -1: none */
	bool skipped;      /* undecided, and another part settles the verdict */
};

struct check {
	enum lin_verdict verdict;
	struct part *parts;
	uint32_t nparts;
	uint32_t *ops;     /* operations grouped by part; NULL: one part, in order */
	size_t bytes_parts, bytes_ops;
	uint32_t nviolated, nunknown, nskipped;
	uint32_t k;        /* k_min: over all parts */
	int64_t delta;
};

/* False: out of memory before anything could be judged. A refusal of the
 * chosen algorithm is in the verdict (LIN_REFUSED) of a part. */
bool lin_check(struct history *h, const struct interpretation *in, const struct lin_check_options *o,
               struct check *c);
void check_free(struct check *c, struct history *h);
/* A part as a problem of its own, ranks made dense; the caller frees ops
 * (lim_free, part->n records) unless it is the whole history. */
bool part_problem(const struct history *h, const struct interpretation *in, const struct check *c,
                  const struct part *part, struct problem *p, struct hop **ops);
/* An order of what was known before a violated part became so, in numbers of
 * the history; the caller frees it. NULL: it is not known, or takes long. */
uint32_t *part_order(const struct history *h, const struct interpretation *in, const struct check *c,
                     const struct part *part, uint32_t *n);

#endif
