#include "verdict/verdict.h"

#include <stdlib.h>
#include <string.h>

void verdict_free(struct verdict *v)
{
	free(v->commits);
	free(v->path);
	free(v->serial);
	free(v->why);
	memset(v, 0, sizeof *v);
}
