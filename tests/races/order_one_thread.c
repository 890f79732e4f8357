/* Two orders by two threads; in the twin by one.
 * intact: locks lock order */
#include "race.h"
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *first(void *p)
{
	FIX(at(1);)
	RACY(	pthread_mutex_lock(&a); /* @race */
		pthread_mutex_lock(&b); /* @race */
		pthread_mutex_unlock(&b);
		pthread_mutex_unlock(&a);
	)	RACY(at(1);)
	return p;
}
static void *second(void *p)
{
	at(2);
	pthread_mutex_lock(&b); /* @race */
	pthread_mutex_lock(&a); /* @race */
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);
	FIX(pthread_mutex_lock(&a); pthread_mutex_lock(&b); pthread_mutex_unlock(&b); pthread_mutex_unlock(&a);)
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
