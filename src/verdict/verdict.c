#include "verdict/verdict.h"

#include <stdlib.h>
#include <string.h>

void verdict_free(struct verdict *v)
{
	free(v->commits);
	free(v->path);
	free(v->serial);
	free(v->notes);
	for (uint32_t i = 0; i < v->nattempts; i++)
		free(v->attempts[i].why);
	memset(v, 0, sizeof *v);
}
