/* A thread releases what another one holds.
 * intact: locks unlock by another thread */
#include "race.h"
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *first(void *p)
{
	pthread_mutex_lock(&a); /* @race */
	at(1);
	at(3);
	FIX(pthread_mutex_unlock(&a);)
	return p;
}
static void *second(void *p)
{
	at(2);
	RACY(pthread_mutex_unlock(&a); /* @race */)

	return p;
}
int main(void)
{
	pthread_mutex_trylock(&a);
	pthread_mutex_unlock(&a);
	pthread_mutex_trylock(&b);
	pthread_mutex_unlock(&b);
	run2(first, second);
	return 0;
}
