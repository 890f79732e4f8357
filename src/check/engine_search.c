/* engine_search: faults, failed assertions and deadlocks, by visiting the program's states (explore/search.h). */
#include <string.h>

#include "base/clock.h"
#include "check/rungs.h"
#include "explore/minimize_run.h"

#define FAULT_STATES 1000000u /* searched for faults when they were not asked for and no limit is set */

void decide_safety(struct decide *d, bool main_question, struct verdict *v)
{
	struct search_result r;
	double start = clock_seconds();
	bool bounded = !main_question && !d->o.search.max_states && d->o.search.deadline <= 0;
	if (!main_question)
		d->slice.deadline = rung_part_of_time(d, 0.5);
	struct search_options so = rung_remaining(d);
	d->slice = (struct slice){ 0 };
	if (bounded)
		so.max_states = FAULT_STATES;
	memset(v, 0, sizeof *v);
	v->block = VERDICT_PROGRAM;
	v->engine = &engine_search.about;
	if ((v->limit = rung_spent(d)) != NULL) {
		v->answer = ANSWER_UNKNOWN;
		v->reason = "not searched: the budget is used up";
		return;
	}
	so.faults = true;
	search_run(d->p, PROD_STANDARD, PROD_BLOCK_ALL, NULL, &so, &r);
	d->states += r.states;
	rung_take(v, &r);
	if (v->path)
		minimize_run_order(d->p, v->path, v->npath);
	v->answer = r.verdict == SEARCH_HOLDS ? ANSWER_HOLDS : r.verdict == SEARCH_LIMIT ? ANSWER_UNKNOWN : ANSWER_VIOLATED;
	v->problem = r.verdict == SEARCH_FAULT ? PROBLEM_FAULT : r.verdict == SEARCH_DEADLOCK ? PROBLEM_DEADLOCK : PROBLEM_NONE;
	if (v->answer == ANSWER_UNKNOWN)
		v->reason = bounded ? "not every execution was searched for faults (--faults lifts this limit)"
		                    : "not every execution was searched for faults";
	v->seconds = clock_seconds() - start;
}

const struct check_engine engine_search = {
	.about = { .name = "search",
	           .summary = "faults, failed assertions and deadlocks: every state of the program",
	           .question = ENGINE_FAULTS,
	           .topic = "ladder" },
	.explores = true,
};
