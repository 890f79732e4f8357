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
	memset(v, 0, sizeof *v);
}
