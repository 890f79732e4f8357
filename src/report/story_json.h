/*
 * story_json: what a counterexample says to a person, as members of a result.
 *
 *   "sentence": what went wrong, as text; "marks": [steps it speaks of, from 1];
 *   "serial": {"end": the shared variables and the threads' locals at the end of the run,
 *     "ends": [the same at the end of serial orders, each once],
 *     "more": how many ends are not shown, "cut": true when they were not found out,
 *     "orders": [{"order": "1, 2", threads, schedule, steps, state}]}
 *
 * The orders are examples: the same blocks, each run in one piece, in the
 * order in which they were entered or left.
 */
#ifndef INTACT_REPORT_STORY_JSON_H
#define INTACT_REPORT_STORY_JSON_H

#include "base/buf.h"
#include "verdict/run.h"
#include "verdict/verdict.h"

/* Begins with a comma, or writes nothing. */
void story_json(struct run *r, const struct verdict *v, struct buf *out);

#endif
