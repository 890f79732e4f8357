/* engine_exact: every moment between entry and exit (explore/exact.h). Right both ways; the most expensive. */
#include "check/rungs.h"
#include "explore/exact.h"

static bool ask(struct decide *d, const struct engine_ask *q, struct verdict *v, struct attempt *a)
{
	struct search_result r;
	struct search_options s = rung_remaining(d);
	exact_run(d->p, q->block, &s, &r);
	v->engine = &engine_exact.about;
	v->reason = NULL;
	d->states += r.states;
	rung_take(v, &r);
	switch (r.verdict) {
	case SEARCH_HOLDS:
		v->answer = ANSWER_HOLDS;
		break;
	case SEARCH_WRONG:
		v->answer = ANSWER_VIOLATED;
		v->problem = PROBLEM_ATOMICITY;
		rung_serial(d, q->block, engine_exact.shortest, v);
		break;
	default:
		v->answer = ANSWER_UNKNOWN;
		break;
	}
	if (v->answer != ANSWER_VIOLATED)
		rung_drop_path(v);
	a->answer = v->answer;
	return v->answer != ANSWER_UNKNOWN;
}

const struct check_engine engine_exact = {
	.about = { .name = "exact",
	           .summary = "no commit points: every moment between entry and exit is tried",
	           .question = ENGINE_BLOCKS,
	           .topic = "exact" },
	.ladder = true,
	.explores = true,
	.shortest = true,
	.ask = ask,
};
