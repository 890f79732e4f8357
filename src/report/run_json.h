/*
 * run_json: a run as JSON, one step per line, the same bytes every time.
 *
 * Writes members of the object that is open, so that a result can put its own
 * beside them:
 *   "threads": [{number, name, index}], "schedule": "1,1,2.1",
 *   "steps": [{step, thread, choice, line, column, text, block, ...}],
 *   "state": {"shared": {..}, "threads": [{thread, at, block, locals}]}
 * docs/sim.md has the fields.
 */
#ifndef INTACT_REPORT_RUN_JSON_H
#define INTACT_REPORT_RUN_JSON_H

#include <jansson.h>

#include "base/json_out.h"
#include "verdict/run.h"

void run_json(const struct run *r, struct json_out *j);
/* The same as a value, for comparing; the caller's. NULL: out of memory. */
json_t *run_json_value(const struct run *r);
/* The shared variables of any state and the locals that the threads see:
 * {"count": 0, "want": [false, true], "worker 2.v": 1}. */
void run_json_end(const struct ir *p, const int32_t *state, const char *key, struct json_out *j);

#endif
