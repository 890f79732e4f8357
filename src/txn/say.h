/* say: what was found out about a history of transactions, in words and as JSON (docs/json.md). */
#ifndef INTACT_TXN_SAY_H
#define INTACT_TXN_SAY_H

#include "base/json_out.h"
#include "txn/check.h"

/* The report. `witness`: also an order of the transactions, when it holds. */
void txn_say_text(const struct txn_check *c, bool witness, bool color, struct buf *out);
/* One result of a document. */
void txn_say_json(const struct txn_check *c, bool witness, struct buf *out);
/* Why a level is violated: one sentence for each step. */
void txn_say_reason(const struct txn_check *c, const struct decision *d, struct buf *out);

#endif
