/* One of two passes of a barrier is missing.
 * intact: race x */
#include "race.h"
static pthread_barrier_t b;
static volatile int x, y;
static void *first(void *p)
{
	pthread_barrier_wait(&b);
	x = 1; /* @race */
	at(1);
	FIX(pthread_barrier_wait(&b);)
	return p;
}
static void *second(void *p)
{
	pthread_barrier_wait(&b);
	FIX(pthread_barrier_wait(&b);)
	at(2);
	y = x; /* @race */
	return p;
}
int main(void)
{
	pthread_barrier_init(&b, NULL, 2);
	run2(first, second);
	return 0;
}
