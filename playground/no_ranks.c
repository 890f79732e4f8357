/* no_ranks: a page is started by no MPI launcher, and loads no module (src/dist/dist_open.c). */
#include "dist/dist_open.h"

struct dist_launch dist_launched(void)
{
	return (struct dist_launch){ DIST_NO_MPI, 0 };
}

bool dist_open(struct dist_launch l, struct dist *d, struct why *why)
{
	(void)l;
	(void)d;
	return why_set(why, "there is no MPI in a browser");
}
