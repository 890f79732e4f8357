/* engine_cover: causality by itself, answered by causal/cover.h alone. */
#include "check/causal_question.h"

static bool ask_itself(const struct ir *p, uint32_t block, const struct check_options *o, struct diags *d, struct verdict *v)
{
	return causal_question(p, block, CAUSAL_COVER, o, d, v);
}

const struct check_engine engine_cover = {
	.about = { .name = "cover",
	           .summary = "causality alone, by a search without unfolding; also for --threads NAME=any",
	           .question = ENGINE_CAUSALITY,
	           .abstract = true,
	           .any_threads = true,
	           .topic = "causal" },
	.ask_itself = ask_itself,
};
