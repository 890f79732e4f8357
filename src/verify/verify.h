/* verify: a saved result of any kind that can be checked again, without what made it. */
#ifndef INTACT_VERIFY_VERIFY_H
#define INTACT_VERIFY_VERIFY_H

#include <jansson.h>

#include "report/claim_list.h"

/* The kind of a document, for verify_result: what its "kind" says; "check", which says what is missing, when it says nothing. */
const char *verify_kind(const json_t *root);
/*
 * Checks the document again; the claims go to *l, its status comes back. `about`: the model, trace or history that it must
 * be about, or NULL for what the document itself names; `max_states`: to go through where nothing is violated (VERIFY_STATES).
 * CLAIM_INPUT and a message in `wrong`: the document as such cannot be verified.
 */
int verify_result(struct claim_list *l, json_t *root, const char *about, uint64_t max_states, struct buf *wrong);

#endif
