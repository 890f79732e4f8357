/* clock: the time that limits are measured by. */
#ifndef INTACT_BASE_CLOCK_H
#define INTACT_BASE_CLOCK_H

#include <time.h>

/* CLOCK_MONOTONIC in seconds. */
static inline double clock_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
