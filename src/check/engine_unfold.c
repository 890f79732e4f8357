/* engine_unfold: causality by itself, answered by causal/unfold.h alone. */
#include "check/causal_question.h"

static bool ask_itself(const struct ir *p, uint32_t block, const struct check_options *o, struct diags *d, struct verdict *v)
{
	return causal_question(p, block, CAUSAL_UNFOLD, o, d, v);
}

const struct check_engine engine_unfold = {
	.about = { .name = "unfold",
	           .summary = "causality alone, by unfolding the net of the program; for fixed numbers of threads",
	           .question = ENGINE_CAUSALITY,
	           .abstract = true,
	           .any_threads = false,
	           .topic = "causal" },
	.ask_itself = ask_itself,
};
