/*
 * keys: is each key of a history alone linearizable?
 *
 * A key is when the transactions, restricted to what they did to it, are strictly serializable: then each of them takes effect on the key at one
 * moment between its invocation and its answer. Strict serializability of all keys together implies it; serializability does not, and it does not imply
 * serializability. Linearizability is local (Herlihy and Wing 1990), so the keys are decided one after the other.
 */
#ifndef INTACT_TXN_KEYS_H
#define INTACT_TXN_KEYS_H

#include "txn/check.h"

struct txn_keys {
	enum txn_verdict verdict;
	uint32_t njudged;      /* keys that a transaction used */
	uint32_t key;          /* violated: one that is not linearizable */
	const char *limit;     /* undecided: as in struct decision */
	struct txn_history th; /* violated: the transactions with what they did to the key alone */
	struct deps deps;
	struct decision why;
};

/* The history has real time. Memory is the arena's, but for th: txn_keys_free. */
void txn_keys_check(struct txn_keys *k, const struct deps *d, struct arena *keep, struct diags *diags, struct limits *lim);
void txn_keys_free(struct txn_keys *k);

#endif
