#include "check/answers.h"

#include <string.h>

#include "base/invariant.h"

bool answers_name_block(const struct ir *p, uint32_t b, const char *name)
{
	assert(b < p->nblocks);
	const char *block = p->blocks[b].name, *tmpl = p->templates[p->blocks[b].tmpl].name;
	size_t n = strlen(tmpl);
	return !strcmp(block, name) || (!strncmp(tmpl, name, n) && name[n] == '.' && !strcmp(block, name + n + 1));
}

enum answer answers_together(const struct verdict *v, uint32_t n)
{
	enum answer all = ANSWER_HOLDS;
	for (uint32_t i = 0; i < n; i++) {
		if (v[i].answer == ANSWER_VIOLATED)
			return ANSWER_VIOLATED;
		if (v[i].answer == ANSWER_UNKNOWN)
			all = ANSWER_UNKNOWN;
	}
	return all;
}
