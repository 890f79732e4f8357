#include "check/properties.h"

#include <string.h>

#include "base/clock.h"
#include "base/invariant.h"
#include "check/engine.h"
#include "explore/minimize_run.h"
#include "explore/property_search.h"

static enum verdict_problem problem_of(enum ir_property_kind k)
{
	return k == IRP_ALWAYS ? PROBLEM_ALWAYS : k == IRP_FINALLY ? PROBLEM_FINALLY : PROBLEM_REACH;
}

uint32_t properties_ask(const struct ir *p, const struct search_options *o, struct verdict *v)
{
	struct property_answer found[IR_MAX_PROPERTIES];
	struct search_result r;
	double start = clock_seconds();
	if (!p->nproperties)
		return 0;
	property_search(p, o, found, &r);
	uint32_t n = 0;
	for (uint32_t k = 0; k < p->nproperties; k++) {
		struct property_answer *a = &found[k];
		if (p->properties[k].implied && a->answer == ANSWER_UNKNOWN && !r.limit)
			continue; /* no run ends */
		uint32_t i = n++;
		if (a->path)
			minimize_run_order(p, a->path, a->npath);
		v[i] = (struct verdict){ .block = VERDICT_PROGRAM,
			                 .property1 = k + 1,
			                 .engine = &engine_property.about,
			                 .answer = a->answer,
			                 .path = a->path,
			                 .npath = a->npath,
			                 .states = r.states,
			                 .transitions = r.transitions,
			                 .bytes = r.bytes,
			                 .seconds = clock_seconds() - start };
		if (a->answer == ANSWER_VIOLATED)
			v[i].problem = problem_of(p->properties[k].kind);
		else if (a->answer == ANSWER_UNKNOWN && r.limit)
			v[i].limit = r.limit;
		if (a->answer == ANSWER_UNKNOWN)
			v[i].reason = r.limit ? "not every reachable state was looked at"
			                      : "no run ends with all threads finished, so the condition was looked at in no state";
		assert(a->answer == ANSWER_VIOLATED || !a->path);
	}
	return n;
}

const struct check_engine engine_property = {
	.about = { .name = "property",
	           .summary = "conditions on states (always, finally, can always reach): every state of the program",
	           .question = ENGINE_PROPERTY,
	           .topic = "properties" },
	.explores = true,
};
