/* Two orders, in the twin under one more lock (a gate).
 * intact: locks lock order */
#include "race.h"
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static void *first(void *p)
{
	FIX(pthread_mutex_lock(&gate);)
	pthread_mutex_lock(&a); /* @race */
	pthread_mutex_lock(&b); /* @race */
	pthread_mutex_unlock(&b);
	pthread_mutex_unlock(&a);
	FIX(pthread_mutex_unlock(&gate);)
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	FIX(pthread_mutex_lock(&gate);)
	pthread_mutex_lock(&b); /* @race */
	pthread_mutex_lock(&a); /* @race */
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);
	FIX(pthread_mutex_unlock(&gate);)
	return p;
}
int main(void)
{
	pthread_mutex_trylock(&a);
	pthread_mutex_unlock(&a);
	pthread_mutex_trylock(&b);
	pthread_mutex_unlock(&b);
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	run2(first, second);
	return 0;
}
