/*
 * run_json: a run as JSON, one step a line, the same bytes every time.
 *
 * Writes members of an object, without its braces, so that a result can put
 * its own beside them:
 *   "threads": [{number, name, index}], "schedule": "1,1,2.1",
 *   "steps": [{step, thread, choice, line, column, text, block, ...}],
 *   "state": {"shared": {..}, "threads": [{thread, at, block, locals}]}
 * docs/sim.md has the fields.
 */
#ifndef INTACT_REPORT_RUN_JSON_H
#define INTACT_REPORT_RUN_JSON_H

#include "base/buf.h"
#include "verdict/run.h"

void run_json(const struct run *r, struct buf *out);
/* Only the step's object, and only the present state's. */
void run_json_step(const struct run *r, uint32_t step, struct buf *out);
void run_json_state(const struct run *r, struct buf *out);
/* The shared variables of any state: {"count": 0, "want": [false, true]}. */
void run_json_shared(const struct ir *p, const int32_t *state, struct buf *out);
/* The same with the locals that the threads see: {"count": 0, "worker 2.v": 1}. */
void run_json_end(const struct ir *p, const int32_t *state, struct buf *out);

#endif
