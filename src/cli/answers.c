#include "cli/answers.h"

#include <string.h>

#include "cli/cli.h"
#include "report/check_text.h"

bool answers_name_block(const struct ir *p, uint32_t b, const char *name)
{
	struct buf full;
	buf_init(&full);
	check_text_name(p, b, &full);
	bool yes = !strcmp(p->blocks[b].name, name) || !strcmp(buf_cstr(&full), name);
	buf_free(&full);
	return yes;
}

int answers_exit_code(const struct verdict *v, uint32_t n)
{
	int rc = EXIT_HOLDS;
	for (uint32_t i = 0; i < n; i++) {
		if (v[i].answer == ANSWER_VIOLATED)
			return EXIT_VIOLATED;
		if (v[i].answer == ANSWER_UNKNOWN)
			rc = EXIT_UNKNOWN;
	}
	return rc;
}
