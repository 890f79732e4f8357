/*
 * causal_story: a counterexample of the causal engines in words, as data:
 * causal_text.h draws it, and as members of a result it is
 *   "conditions", "events", "cutoffs": of the prefix, when there is one "sentence",
 *   "marks": the chain as text, and its steps "causal": {"abstract": true, "concrete":
 *   "possible" | "impossible" | ...,
 *     "stops": the step that the data forbid,
 *     "threads": {name: number}, "smallest", "lanes": [threads that take a step],
 *     "events": [{"event", "thread", "line", "text", "block", "entered", "left", "touches":
 *       [{"variable", "mode", "found", "left"}]}],
 *     "chain": [{"from", "to", "by": variable | null (the thread's order)}],
 *     "schedule": what intact sim takes}
 */
#ifndef INTACT_REPORT_CAUSAL_STORY_H
#define INTACT_REPORT_CAUSAL_STORY_H

#include "base/arena.h"
#include "base/json_out.h"
#include "verdict/causal_run.h"

struct causal_story_touch {
	const char *variable;
	bool write;
	const char *found, *left; /* values, or NULL */
};

struct causal_story_event {
	uint32_t lane, line;
	const char *text;           /* "read data", "m: false -> true" */
	const char *block;          /* that it is inside of, or NULL */
	const char *entered, *left; /* or NULL */
	struct causal_story_touch *touches;
	uint32_t ntouches;
};

struct causal_story_link {
	uint32_t from, to; /* events, from 0 */
	const char *by;    /* the variable that carries it; NULL: the thread's order */
};

struct causal_story { /* strings are the arena's, and not safe to print as they are */
	struct arena arena;
	const char **lanes; /* the threads that take a step: "worker 2" */
	uint32_t nlanes;
	struct causal_story_event *events;
	uint32_t nevents;
	struct causal_story_link *links;
	uint32_t nlinks;
	uint32_t *count; /* threads of each template there have to be */
	bool smallest;   /* fewer do not do */
	enum causal_concrete concrete;
	uint32_t stops;       /* CAUSAL_IMPOSSIBLE: the event, from 0 */
	const char *schedule; /* for `intact sim`, options first; or NULL */
};

extern const char *const causal_concrete_names[]; /* of enum causal_concrete, NULL behind the last */

/* In memory of its own. */
struct causal_story *causal_story_make(const struct ir *p, const struct causal_run *r);
void causal_story_free(struct causal_story *s);

/* The members above, of the object that is open; `s` NULL: those of the prefix alone. */
void causal_story_json(const struct ir *p, const struct verdict *v, const struct causal_story *s, struct json_out *j);

#endif
