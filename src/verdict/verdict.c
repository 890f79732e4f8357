#include "verdict/verdict.h"

#include <stdlib.h>
#include <string.h>

#include "verdict/causal_run.h"

void verdict_free(struct verdict *v)
{
	free(v->commits);
	free(v->path);
	causal_run_free(v->causal);
	free(v->serial);
	free(v->halt);
	free(v->why);
	free(v->notes);
	for (uint32_t i = 0; i < v->nattempts; i++)
		free(v->attempts[i].why);
	memset(v, 0, sizeof *v);
}
