/* Neighbours of a grid are read in the phase in which they are written.
 * intact: race v */
#include "race.h"
static pthread_barrier_t b;
static volatile int v[2], w[2];
static void step(int i)
{
	v[i] = i; /* @race */
	FIX(pthread_barrier_wait(&b);)
	if (i)
		at(2);
	w[i] = v[1 - i]; /* @race */
	RACY(pthread_barrier_wait(&b);)
}
static void *first(void *p)
{
	RACY(step(0); (void)0;)
	FIX(step(0);)
	return p;
}
static void *second(void *p)
{
	step(1);
	return p;
}
static void *clock_(void *p)
{
	at(1);
	return p;
}
int main(void)
{
	pthread_barrier_init(&b, NULL, 2);
	run3(first, second, clock_);
	return 0;
}
