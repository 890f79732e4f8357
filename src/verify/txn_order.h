/*
 * txn_order: an order of transactions as the reason why a level holds, checked against the level's definition (txn/level.h), for the
 * levels that are not simply run (txn_replay.h). Versions are ordered as their transactions are.
 */
#ifndef INTACT_VERIFY_TXN_ORDER_H
#define INTACT_VERIFY_TXN_ORDER_H

#include "verify/txn_refute.h"

#define TXN_ORDER_STEPS (UINT64_C(1) << 32)

/* `list`: transactions from 1. NULL: it is right; else what is wrong with it. *too_long: it was given up after TXN_ORDER_STEPS. */
const char *txn_order_wrong(const struct txn_facts *f, struct isolation level, const int64_t *list, size_t n, bool *too_long);

/* The writes of each key alone: do they keep what lists show and what is assumed of them? `list`: transactions from 1, in the order in which they
 * take effect. */
const char *txn_versions_wrong(const struct txn_facts *f, const int64_t *list, size_t n);

#endif
