/*
 * causal_witness: from a run of actions to a causal_run: which events are before
 * which, and why; the shortest cycle; and what of the run is needed for it.
 */
#ifndef INTACT_CAUSAL_CAUSAL_WITNESS_H
#define INTACT_CAUSAL_CAUSAL_WITNESS_H

#include "causal/cover.h"
#include "verdict/causal_run.h"

struct witness_event {   /* an event: an action by a thread */
	uint32_t thread; /* the threads of a template follow each other, templates in order */
	uint32_t action;
};

/* The path of a cover search, thread by thread; malloc'ed, NULL: memory. */
struct witness_event *causal_witness_of_cover(const struct program *g, const struct cover_result *r);

/*
 * The run as a counterexample: `program`: a cycle of block occurrences and
 * outside steps; else the occurrence of the last event's block is the only item
 * of more than one event. NULL when there is no such cycle, or when out of
 * memory.
 */
struct causal_run *causal_witness_make(const struct program *g, const struct witness_event *events, uint32_t n,
                                       const uint32_t *count, bool program);

#endif
