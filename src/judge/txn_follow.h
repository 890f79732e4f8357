/* txn_follow: a history of transactions judged while it is written, from a pipe or a growing file. For judge/history.c. */
#ifndef INTACT_JUDGE_TXN_FOLLOW_H
#define INTACT_JUDGE_TXN_FOLLOW_H

#include "history/read.h"

/* Judges the beginning of the text and returns an exit code; `tell`: with a report. `line`: its last one, which made it violated; 0: none did. */
typedef int txn_beginning(void *arg, const char *text, size_t len, uint32_t line, bool tell);

/* `r` is open, nothing of it is consumed. Ends with the first line that makes the history violate what is asked, or at the end of the text. */
int txn_follow(struct reader *r, txn_beginning *judge, void *arg, struct diags *d);

#endif
