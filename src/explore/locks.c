#include "explore/locks.h"

#include <stdlib.h>

bool locks_init(struct locks *l, const struct ir *p)
{
	l->mover = calloc(p->nnodes + 1, 1);
	l->nmovers = 0;
	return l->mover;
}

void locks_free(struct locks *l)
{
	free(l->mover);
	l->mover = NULL;
}
