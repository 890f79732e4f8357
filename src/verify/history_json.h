/*
 * verify_history_json: a report of `intact history --json --witness` checked
 * against the history it speaks of.
 */
#ifndef INTACT_VERIFY_HISTORY_JSON_H
#define INTACT_VERIFY_HISTORY_JSON_H

#include "verdict/verify_history.h"

/* `h` as read (not yet interpreted): object, initial value and condition are
 * taken from the report. `why` gets a reason unless it is accepted. */
enum verify_answer verify_history_json(struct history *h, const char *text, size_t len, struct why *why);

#endif
