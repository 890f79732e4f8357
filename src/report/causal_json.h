/*
 * causal_json: the result of the causal engines as JSON, the same bytes for
 * the same model:
 *   {"intact", "command": "check", "model": {"name"}, "verdict",
 *    "results": [{"block": "worker.update" | null (the program), "line",
 *      "verdict", "engine", "limit", "reason",
 *      "threads": {name: number | "any"},
 *      "states", "transitions" | "conditions", "events", "cutoffs",
 *      "run": {"abstract": true, "concrete": "possible" | "impossible" | ...,
 *        "threads": {name: number}, "smallest",
 *        "events": [{"event", "thread", "line", "text", "block", "touches":
 *          [{"variable", "mode", "found", "left"}]}],
 *        "chain": [{"from", "to", "by": variable | null (the thread's order)}],
 *        "schedule"}}]}
 */
#ifndef INTACT_REPORT_CAUSAL_JSON_H
#define INTACT_REPORT_CAUSAL_JSON_H

#include "base/buf.h"
#include "verdict/causal_run.h"

void causal_json(const struct ir *p, const struct verdict *v, uint32_t n, const char *version,
                 const char *model, struct buf *out);

#endif
