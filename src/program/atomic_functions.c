#include "program/atomic_functions.h"

#include <limits.h>
#include <stdlib.h>

#include "base/paths.h"

enum { MAX_FUNCTIONS = 2048 };

bool atomic_functions_set(struct arena *a, const char *program,
                          bool (*match)(void *ctx, const char *function, const char *file, uint32_t line, bool there), void *ctx)
{
	static uint64_t at[MAX_FUNCTIONS];
	char path[PATH_MAX];
	struct buf list;
	if (!find_in_path(program, path, sizeof path))
		return false;
	uint32_t n = symbols_functions(a, path, match, ctx, at, MAX_FUNCTIONS);
	buf_init(&list);
	for (uint32_t i = 0; i < n; i++)
		buf_printf(&list, "%s%llx", i ? "," : "", (unsigned long long)at[i]);
	setenv("INTACT_ATOMIC_FUNCTIONS", buf_cstr(&list), 1);
	buf_free(&list);
	return true;
}
