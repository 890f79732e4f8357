/*
 * generate: histories of transactions by parameters, with anomalies planted, as Jepsen's EDN.
 *
 * The history itself is strictly serializable: sessions overlap, and each transaction takes effect at one moment between its invocation and
 * its answer. A planted anomaly is a few transactions of new sessions on keys of their own, all open at the same time; so it is the
 * only one, and it is what a check must name.
 */
#ifndef INTACT_TXN_GENERATE_H
#define INTACT_TXN_GENERATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct txn_workload {
	uint32_t n;        /* transactions besides those that are planted */
	uint32_t sessions; /* processes at work at the same time */
	uint32_t ops;      /* micro-operations of a transaction at most */
	uint32_t keys;
	uint32_t reads;         /* percent of the micro-operations */
	uint32_t aborts, infos; /* percent of the transactions */
	uint32_t planted;       /* how often the anomaly is planted */
	uint64_t seed;
	const char *anomaly; /* a name of txn_planted_names, or NULL */
	bool lists;          /* appends instead of writes */
};

/* What can be planted, NULL-terminated, and the weakest level that each violates. */
extern const char *const txn_planted_names[];
const char *txn_planted_level(const char *anomaly);

/* "n=1000,sessions=8,lists,anomaly=write-skew": what is left out has a default. False: `why` says what is wrong. */
bool txn_workload_parse(struct txn_workload *w, const char *text, struct why *why);

/* The history, a part at a time through `flush` (false: stop). False: out of memory or stopped. */
bool txn_generate(const struct txn_workload *w, struct buf *out, bool (*flush)(void *arg, struct buf *b), void *arg);

#endif
