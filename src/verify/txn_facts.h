/*
 * txn_facts: what a history says of single reads and writes, for txn_refute.
 *
 * Writers are found by (key, value). A read is external when its transaction had not written the key before, or when it contradicts that;
 * it saw the version of the transaction that wrote the value, or the last element of the list. Order of appends: as in the longest list that was read.
 */
#ifndef INTACT_VERIFY_TXN_FACTS_H
#define INTACT_VERIFY_TXN_FACTS_H

#include "base/map.h"
#include "verify/txn_refute.h"

#define FACT_NONE (UINT32_MAX - 1)

/* One write of a value: the next one of the same value is `next` - 1. */
struct fact_write {
	uint32_t txn, op, next;
};

struct txn_facts {
	const struct txn_history *th;
	val init;
	struct arena *a;
	struct map by_value; /* (key, value) -> first write */
	AVEC(struct fact_write) writes;
	uint8_t *kind;                      /* by key: 1 register, 2 list, 0 never written */
	uint32_t *longest_txn, *longest_op; /* by key: the read of the longest list, or FACT_NONE */
	struct map place;                   /* (key, transaction) -> first place in that list */
	struct map last_place;
	bool *took_effect; /* by transaction */
	const char *direct[LEVEL_COUNT];
};

/* The transaction whose version this external read saw, PROOF_INITIAL, or FACT_NONE when it is not known. */
uint32_t facts_saw(const struct txn_facts *f, const struct mop *m);
/* Is this read external? */
bool facts_external(const struct txn_facts *f, uint32_t t, uint32_t op);
/* Does an external read of the key by t, not a guessed one of a counter, see `version`? The place of the last such read, or FACT_NONE. */
uint32_t facts_reads(const struct txn_facts *f, uint32_t t, uint32_t key, uint32_t version);
/* The place of t's last write of the key, or FACT_NONE. */
uint32_t facts_writes(const struct txn_facts *f, uint32_t t, uint32_t key);
/* Does what is assumed of the order of versions (--version-order) put a's before b's? */
bool facts_assumed(const struct txn_facts *f, uint32_t a, uint32_t b);
/* Do lists, or what is assumed, show that a's version of the key comes before b's? The initial version does. */
bool facts_before(const struct txn_facts *f, uint32_t key, uint32_t a, uint32_t b);

#endif
