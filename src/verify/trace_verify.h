/*
 * trace_verify: a report of `intact trace --json` checked against its trace: every cycle, by a judge that
 * shares nothing with the analyses.
 */
#ifndef INTACT_VERIFY_TRACE_VERIFY_H
#define INTACT_VERIFY_TRACE_VERIFY_H

#include <jansson.h>

#include "report/claim_list.h"

/* The report as read; `trace` NULL: the file it names. What is wrong with the report itself goes to `wrong`. */
int trace_verify_report(struct claim_list *l, json_t *root, const char *trace, struct buf *wrong);

#endif
