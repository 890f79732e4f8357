/*
 * check_json: the result of `intact check` as JSON: everything a later reader
 * needs to judge it on its own, the model's text and hash included. The same
 * bytes for the same question (times are left out).
 *
 *   {"intact": version, "schema": "intact-1", "kind": "check",
 *    "model": {"name", "language", "hash", "text", "threads": {name: count}},
 *    "asked": {"engine", "block", "faults", "deadlock", "any": [names of threads]},
 *    "verdict": "holds" | "violated" | "unknown",
 *    "quiescence": "always" | "lost" | "unknown" (when it was asked),
 *    "results": [{"block": "worker.update" | null (the program), "line",
 *      "verdict", "problem", "engine", "commits", "limit",
 *      "states", "transitions",
 *      "any_number_of": [names of threads: a proof for any number of them],
 *      "as_part": true (atomic because the program is serializable), "notes",
 *      "attempts": [{"engine", "verdict", "states", "limit", "why"}],
 *      "counterexample": {threads, schedule, steps, state: see run_json.h},
 *      "sentence", "marks", "serial": see story.h,
 *      "causal": see causal_story.h}]}
 *
 * A result about an object has a null "block", and "object" and "condition";
 * with a counterexample "history": [{"name": "r2", "thread", "method",
 * "value", "call", "return" (steps, from 1)}].
 */
#ifndef INTACT_REPORT_CHECK_JSON_H
#define INTACT_REPORT_CHECK_JSON_H

#include "report/checked.h"

void check_json(const struct checked *c, struct buf *out);
/* The member "model". `keep_dead` is said when set: who replays a run must read
 * the model in the same way. */
void check_json_model(const struct ir *p, const char *name, bool keep_dead, struct json_out *j);
/* The "history" of an object in a run. */
void check_json_history(const struct run *r, uint32_t object, const char *key, struct json_out *j);
/* The problem of a word ("atomicity", "fault", ...); PROBLEM_NONE when there is no such word. */
enum verdict_problem problem_from(const char *name);
/* The hash of a model's text, 16 hexadecimal digits. */
void text_hash(const char *text, size_t len, char out[17]);

#endif
