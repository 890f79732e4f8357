/* A lock is destroyed while it is held.
 * intact: locks destroyed lock */
#include "race.h"
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *first(void *p)
{
	pthread_mutex_lock(&a); /* @race */
	RACY(at(1);)
	RACY(at(3);)
	pthread_mutex_unlock(&a);
	FIX(at(1);)
	return p;
}
static void *second(void *p)
{
	at(2);
	pthread_mutex_destroy(&a); /* @race */
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
