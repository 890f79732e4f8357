/*
 * causal_json: what the causal engines add to a result of check_json, the same
 * bytes for the same model:
 *   "conditions", "events", "cutoffs": of the prefix, when there is one
 *   "sentence", "marks": the chain as text, and its steps "causal":
 *   {"abstract": true, "concrete": "possible" | "impossible" | ...,
 *     "threads": {name: number}, "smallest",
 *     "events": [{"event", "thread", "line", "text", "block", "touches":
 *       [{"variable", "mode", "found", "left"}]}],
 *     "chain": [{"from", "to", "by": variable | null (the thread's order)}],
 *     "schedule": what intact sim takes}
 */
#ifndef INTACT_REPORT_CAUSAL_JSON_H
#define INTACT_REPORT_CAUSAL_JSON_H

#include "base/buf.h"
#include "verdict/causal_run.h"

/* The members above, each preceded by a comma. */
void causal_json(const struct ir *p, const struct verdict *v, struct buf *out);

#endif
