/* history_verify: a report of `intact history --json --witness` checked
 * against its history, for `intact verify`. */
#ifndef INTACT_VERIFY_HISTORY_VERIFY_H
#define INTACT_VERIFY_HISTORY_VERIFY_H

#include <jansson.h>

#include "report/claim_list.h"

/* `history`: the file, or NULL for the one that the report names. */
int history_verify_report(struct claim_list *l, json_t *root, const char *history);

#endif
