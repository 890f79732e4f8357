#include "cli/quiescence.h"

#include <string.h>

#include "base/clock.h"
#include "explore/quiet.h"
#include "explore/tidy.h"

uint32_t quiescence_ask(const struct ir *p, const struct search_options *o, struct verdict *v,
                        const char **answer)
{
	struct search_result r;
	double start = clock_seconds();
	enum quiet_answer a = quiet_run(p, o, &r);
	*answer = a == QUIET_ALWAYS ? "always" : a == QUIET_LOST ? "lost" : "unknown";
	if (a != QUIET_LOST) {
		search_result_free(&r);
		return 0;
	}
	tidy_order(p, r.path, r.npath);
	memset(v, 0, sizeof *v);
	v->block = VERDICT_PROGRAM;
	v->engine = "quiescence";
	v->answer = ANSWER_VIOLATED;
	v->problem = PROBLEM_QUIESCENCE;
	v->path = r.path;
	v->npath = r.npath;
	v->states = r.states;
	v->transitions = r.transitions;
	v->bytes = r.bytes;
	v->seconds = clock_seconds() - start;
	return 1;
}
