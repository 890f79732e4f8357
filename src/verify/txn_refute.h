/*
 * txn_refute: is a history of transactions really outside a level? The checker of direct anomalies and of proofs (txn/proof.h).
 *
 * It shares nothing with the deciding algorithms but the history as it was read (txn/txn.h), the names of the levels and the form of a
 * proof. Every step of a cycle is looked up in the history; the clauses are refuted by unit propagation.
 */
#ifndef INTACT_VERIFY_TXN_REFUTE_H
#define INTACT_VERIFY_TXN_REFUTE_H

#include "txn/level.h"
#include "txn/proof.h"
#include "txn/txn.h"

struct txn_facts;

/* What the history says of reads and writes, in the arena. `init`: what registers are at first, besides nil. */
struct txn_facts *txn_facts_new(const struct txn_history *th, val init, struct arena *a);
void txn_facts_free(struct txn_facts *f);

/* A read that no order of transactions explains at the level (G1a, G1b, garbage, future, internal, duplicates, incompatible orders):
 * what is wrong with it, or NULL when there is none. */
const char *txn_direct_anomaly(const struct txn_facts *f, enum txn_level level);
/* NULL: the proof is right, and no order satisfies the level; else what is wrong with it. */
const char *txn_refute(struct txn_facts *f, struct isolation level, const struct txn_proof *p);

#endif
