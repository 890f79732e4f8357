#include "check/quiescence.h"

#include <string.h>

#include "base/clock.h"
#include "check/engine.h"
#include "explore/quiescence_search.h"
#include "explore/minimize_run.h"

uint32_t quiescence_ask(const struct ir *p, const struct search_options *o, struct verdict *v, enum way_out *answer)
{
	struct search_result r;
	double start = clock_seconds();
	enum quiescence_answer a = quiescence_search(p, o, &r);
	*answer = a == QUIESCENCE_ALWAYS ? WAY_OUT_ALWAYS : a == QUIESCENCE_LOST ? WAY_OUT_LOST : WAY_OUT_UNKNOWN;
	if (a != QUIESCENCE_LOST) {
		search_result_free(&r);
		return 0;
	}
	minimize_run_order(p, r.path, r.npath);
	memset(v, 0, sizeof *v);
	v->block = VERDICT_PROGRAM;
	v->engine = &engine_quiescence.about;
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

const char *quiescence_word(enum way_out w)
{
	static const char *const words[] = {
		[WAY_OUT_NOT_ASKED] = NULL, [WAY_OUT_ALWAYS] = "always", [WAY_OUT_LOST] = "lost", [WAY_OUT_UNKNOWN] = "unknown"
	};
	return words[w];
}

const struct check_engine engine_quiescence = {
	.about = { .name = "quiescence",
	           .summary = "whether threads can always leave their blocks",
	           .question = ENGINE_WAY_OUT,
	           .topic = "ladder" },
	.explores = true,
};
