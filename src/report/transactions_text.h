/* transactions_text: what a result of `intact history` says of transactions, for a terminal. */
#ifndef INTACT_REPORT_TRANSACTIONS_TEXT_H
#define INTACT_REPORT_TRANSACTIONS_TEXT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"

/* `result`: one with "levels" (docs/json.md). */
void transactions_text(const json_t *result, bool color, struct buf *out);

#endif
