/*
 * lin: one history of one object (one key) and the algorithms that judge it.
 *
 * Every algorithm takes a `struct problem` and fills a `struct result`. The
 * operations are in the order of invocation, with ranks as times. What an
 * algorithm cannot judge it refuses (LIN_REFUSED, and why); a reached limit
 * is LIN_UNKNOWN. A verdict always comes with its reason: an order of the
 * operations, or a proof.
 */
#ifndef INTACT_LIN_LIN_H
#define INTACT_LIN_LIN_H

#include "history/judged.h"

void result_init(struct result *r, enum algorithm a, struct limits *lim);
void result_free(struct result *r);
/* Room for the order or the facts; false (and LIN_UNKNOWN) without memory. */
bool result_order(struct result *r, uint32_t n);
bool result_facts(struct result *r, uint32_t n);
enum lin_verdict result_unknown(struct result *r);
enum lin_verdict result_refuse(struct result *r, const char *why, uint32_t a, uint32_t b);

/* Event order: ev[rank] = op * 2 for its call, op * 2 + 1 for its response,
 * RANK_INF for unused ranks. Owned by the caller (lim_free). */
uint32_t *events_of(const struct problem *p);

/* Dense numbers for the values written: see dense.c. */
struct dense {
	struct limits *lim;
	uint32_t *table; /* direct: value - base -> id + 1; else a hash table */
	uint32_t *keys;
	size_t bytes_table, bytes_keys;
	uint32_t base, range, mask, n;
	bool direct;
};
/* Values of operations of kind fn; the initial one is number 0. */
bool dense_build_fn(struct dense *d, const struct problem *p, enum fn fn);
bool dense_build(struct dense *d, const struct problem *p); /* of writes */
uint32_t dense_get(const struct dense *d, val v);           /* RANK_INF: never written */
void dense_free(struct dense *d);

/* The algorithms. */
enum lin_verdict lin_soar(const struct problem *p, struct result *r);
enum lin_verdict lin_clmt(const struct problem *p, struct result *r);
enum lin_verdict lin_greedy(const struct problem *p, struct result *r);
enum lin_verdict lin_backward(const struct problem *p, struct result *r);
enum lin_verdict lin_zones(const struct problem *p, struct result *r);
enum lin_verdict lin_brute(const struct problem *p, struct result *r);
enum lin_verdict lin_bfs(const struct problem *p, struct result *r);
enum lin_verdict lin_dfs(const struct problem *p, struct result *r, uint64_t max_steps);
enum lin_verdict lin_search(const struct problem *p, struct result *r);
/* What is impossible given every return value, at the response at event `at`, is
 * certain, at the latest, with the response of this operation: the last to
 * answer of those invoked before. RANK_INF: the last response of all. */
uint32_t lin_certain_by(const struct problem *p, uint32_t at);
/* Violated, with a culprit that is too early at most, and certain when `last`
 * returned: the first response with which it is certain, by judging prefixes
 * (within a number of steps); or, with moment_open, one with which it is. */
void lin_first_moment(const struct problem *p, struct result *r, uint32_t last,
                      enum lin_verdict (*judge)(const struct problem *p, struct result *r, uint64_t max_steps));
enum lin_verdict lin_queue(const struct problem *p, struct result *r);
enum lin_verdict lin_queue_pairs(const struct problem *p, struct result *r); /* values repeat */
enum lin_verdict lin_stack(const struct problem *p, struct result *r);
enum lin_verdict lin_pqueue(const struct problem *p, struct result *r);
enum lin_verdict lin_set(const struct problem *p, struct result *r); /* one element */
enum lin_verdict lin_weak(const struct problem *p, struct result *r, bool safe);
/* The operations of all keys together: sequential consistency does not split. */
enum lin_verdict lin_sequential(const struct problem *p, uint32_t nkeys, uint32_t nprocs, struct result *r);
/* Violated, with a culprit: what is in conflict around it, and the states. */
void lin_explain(const struct problem *p, struct result *r);
/* Is there a value that the register had to become more often than it could? */
bool lin_lacks_supply(const struct problem *p, struct result *r);
/* Picks by the object and the shape of the history. */
enum lin_verdict lin_atomic(const struct problem *p, enum algorithm a, struct result *r);

/* What was known before event `cut`: later invocations are not there, later
 * answers not known. `ops` and `map` (the old numbers) have room for p->n. */
void lin_prefix(const struct problem *p, uint32_t cut, struct hop *ops, uint32_t *map, struct problem *out);

/* Do no writes overlap? (Otherwise *a and *b overlap.) */
bool writes_in_sequence(const struct problem *p, uint32_t *a, uint32_t *b);
/* Is every value written at most once, and the initial one never? */
bool values_distinct(const struct problem *p, const struct dense *d, uint32_t *a, uint32_t *b);

#endif
