/* A try for the lock fails, and nobody looks.
 * intact: race x */
#include "race.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int x;
static void *first(void *p)
{
	pthread_mutex_lock(&m);
	at(1);
	at(4);
	x = 1; /* @race */
	pthread_mutex_unlock(&m);
	at(5);
	return p;
}
static void *second(void *p)
{
	at(2);
	int r = pthread_mutex_trylock(&m);
	at(3);
	FIX(if (!r))
		x = 2; /* @race */
	if (!r)
		pthread_mutex_unlock(&m);
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
