/*
 * check_verify: a result of `intact check --json` checked against its model, without the engines that made it,
 * for `intact verify`.
 */
#ifndef INTACT_VERIFY_CHECK_VERIFY_H
#define INTACT_VERIFY_CHECK_VERIFY_H

#include <jansson.h>
#include <stdint.h>

#include "report/claim_list.h"

#define VERIFY_STATES 300000u /* of a search through what holds, unless told otherwise */

/* `model`: the file that it must be about, or NULL. `max_states`: of a search through what holds. */
int check_verify_report(struct claim_list *l, json_t *root, const char *model, uint64_t max_states);

#endif
