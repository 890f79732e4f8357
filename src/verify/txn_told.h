/*
 * txn_told: is what a report tells of a history of transactions what the history has: counts, the marks on the lattice, and of each violated
 * level the anomaly, the transactions, the cycle and the sentences?
 *
 * Whether a level holds is checked apart, without the deciding algorithms (txn_refute.h, txn_order.h). The words around it are told again from the
 * history by the same code, and compared: a true verdict with a false explanation is rejected.
 */
#ifndef INTACT_VERIFY_TXN_TOLD_H
#define INTACT_VERIFY_TXN_TOLD_H

#include <jansson.h>

#include "report/claim_list.h"
#include "txn/check.h"

/* Adds a claim for each part of `result` that is wrong or could not be told again within the limits; one that is accepted when there is none. `keys`:
 * what was found out about the keys alone, or NULL. */
void txn_told(struct claim_list *l, const json_t *result, struct deps *d, const struct txn_keys *keys, struct limits *lim);

#endif
