/* The flag of a condition is set without the mutex.
 * intact: race ready */
#include "race.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static volatile int ready;
static void *first(void *p)
{
	FIX(pthread_mutex_lock(&m);)
	ready = 1; /* @race */
	FIX(pthread_mutex_unlock(&m);)
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	pthread_mutex_lock(&m);
	while (!ready) /* @race */
		pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m);
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
