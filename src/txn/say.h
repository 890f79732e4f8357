/* say: what was found out about a history of transactions, as JSON, with the words in it (docs/json.md). */
#ifndef INTACT_TXN_SAY_H
#define INTACT_TXN_SAY_H

#include "base/json_out.h"
#include "txn/check.h"

/* One result of a document, which report/transactions_text.h renders. `witness`: also an order of the transactions, when it holds. */
void txn_say_json(const struct txn_check *c, bool witness, struct buf *out);
/* Why a level is violated: one sentence for each step. */
void txn_say_reason(const struct txn_check *c, const struct decision *d, struct buf *out);

#endif
