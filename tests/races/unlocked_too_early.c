/* The last access comes after the unlock.
 * intact: race x */
#include "race.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int x;
static void *first(void *p)
{
	pthread_mutex_lock(&m);
	x = 1;
	RACY(pthread_mutex_unlock(&m);)
	x = 2; /* @race */
	FIX(pthread_mutex_unlock(&m);)
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	pthread_mutex_lock(&m);
	x = 3; /* @race */
	pthread_mutex_unlock(&m);
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
