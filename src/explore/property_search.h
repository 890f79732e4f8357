/*
 * property_search: do the model's conditions on states hold (ir.h: properties)?
 *
 * All states are visited (state_graph.h). `always` and `finally` are looked at in each; for `can always reach` the transitions
 * are kept and the states from which none that satisfies the condition can be reached are found backwards. So a violation of any
 * of them comes with a run to one of the nearest states that shows it, and what holds was looked at in every reachable
 * state.
 */
#ifndef INTACT_EXPLORE_PROPERTY_SEARCH_H
#define INTACT_EXPLORE_PROPERTY_SEARCH_H

#include "explore/search.h"

struct property_answer {
	enum answer answer;
	struct move *path; /* ANSWER_VIOLATED: to a state that shows it; malloc'ed */
	uint32_t npath;
	bool looked; /* IRP_FINALLY: some run ends */
};

/* Fills answers[0 .. ir->nproperties); r has the counts and the limit that was reached, if one was. */
void property_search(const struct ir *ir, const struct search_options *o, struct property_answer *answers, struct search_result *r);

#endif
