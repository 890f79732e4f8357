/* txn_verify: a report of `intact history --json` on transactions checked against its history. */
#ifndef INTACT_VERIFY_TXN_VERIFY_H
#define INTACT_VERIFY_TXN_VERIFY_H

#include <jansson.h>

#include "history/read.h"
#include "report/claim_list.h"

/* `result` has "levels"; `path` is the history. Orders (--witness) of serializable, snapshot-isolation and prefix are followed step by
 * step, other answers are decided again. Returns CLAIM_INPUT, or what the claims come to. */
int txn_verify(struct claim_list *l, const json_t *result, struct history *h, const char *path, enum format format,
               struct diags *d);

#endif
