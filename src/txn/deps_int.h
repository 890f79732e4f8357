/*
 * deps_int: what the files of deps.h share: the state of building, and the first pass (deps_reads.c).
 */
#ifndef INTACT_TXN_DEPS_INT_H
#define INTACT_TXN_DEPS_INT_H

#include <assert.h>

#include "base/map.h"
#include "txn/deps.h"
#include "txn/members.h"

/* One write of the history: who made it, and where. */
struct written {
	uint32_t txn, op; /* its last write of the value */
	uint32_t times;   /* how often it wrote it */
	uint32_t next;    /* another transaction's write of the same value + 1, or 0 */
	uint32_t key;
};

struct txn_builder {
	struct deps *d;
	const struct txn_history *th;
	struct arena *a;
	struct diags *diags;
	bool certain; /* without reads that are guessed */
	/* (key, value) -> index into `writes`. Most histories write small numbers, each to one key: those stand in `direct`, by value, + 1; what finds its place
	 * taken by another key, and everything else, in the map. */
	struct map by_value;
	uint32_t *direct, ndirect;
	AVEC(struct written) writes;
	uint8_t *kind;        /* by key: 1 register, 2 list */
	uint32_t *stamp;      /* by key: transaction + 1 that touched it last */
	uint32_t *last_write; /* ... its last write of it (op) + 1, or 0 */
	uint32_t *last_read;  /* ... and its last read + 1, or 0 */
	uint32_t *slot;       /* by key: scratch */
	bool *seen;           /* by transaction: another transaction saw a write of it */
	val *longest;         /* by key: the longest list that was read, or VAL_NONE */
	uint32_t *longest_txn, *longest_op;
};

static inline const struct mop *deps_op_at(const struct txn_builder *b, uint32_t t, uint32_t op)
{
	assert(t < b->th->n && op < b->th->txns[t].nops);
	return &b->th->ops[b->th->txns[t].first + op];
}

/* All writes, by key and value. False after an error: a key that is both written and appended to. */
bool deps_collect_writes(struct txn_builder *b);
/* The write that a read of this value by t saw, or NULL. Of several, one that committed is preferred; *several: there are others
 * that could be it. */
const struct written *deps_writer_of(const struct txn_builder *b, uint32_t key, val v, bool *several);
/* Nil, or the initial value. When a transaction may have written it, too, it is ambiguous. */
bool deps_is_initial(const struct txn_builder *b, const struct mop *m);
/* What registers are at first, when it was not given: d->init. */
void deps_guess_initial(struct txn_builder *b);
/* Is this read external? Else it must agree with what its transaction did before; *ok says whether. */
bool deps_external(struct txn_builder *b, uint32_t t, uint32_t op, bool *ok);
/* Did the micro-operation read a list? */
bool deps_is_list(const struct txn_builder *b, const struct mop *m);
/* Aborted reads, garbage, internal contradictions; which transactions of unknown fate took effect. */
void deps_look_at_reads(struct txn_builder *b);
/* Counts a direct anomaly, and keeps the first ones. */
void deps_anomaly(struct txn_builder *b, enum anomaly_kind k, uint32_t t, uint32_t op, uint32_t other, uint32_t other_op, val v);

#endif
