/* A lock that nobody holds is released.
 * intact: locks unlock of an unlocked lock */
#include "race.h"
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *first(void *p)
{
	pthread_mutex_lock(&a);
	pthread_mutex_unlock(&a);
	RACY(pthread_mutex_unlock(&a); /* @race */)
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
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
