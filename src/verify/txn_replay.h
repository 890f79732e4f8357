/*
 * txn_replay: an order of transactions, or of their begins and ends, followed step by step: does it explain every read?
 *
 * It shares nothing with the deciding algorithms but the history as it was read (txn/txn.h) and the names of the levels.
 */
#ifndef INTACT_VERIFY_TXN_REPLAY_H
#define INTACT_VERIFY_TXN_REPLAY_H

#include "txn/level.h"
#include "txn/txn.h"

/* The events: t + 1 is the begin of transaction t, -(t + 1) its end; without `events` each t + 1 is both. `init`: what registers are at
 * first, besides nil. For serializable, snapshot-isolation and prefix. NULL: it is right; else what is wrong with it. */
const char *txn_replay(const struct txn_history *th, struct isolation level, val init, const int64_t *list, size_t n, bool events,
                       struct arena *a);

#endif
