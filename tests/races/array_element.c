/* The same element of an array.
 * intact: race v */
#include "race.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int v[8];
volatile int at3 = 3;
static void *first(void *p)
{
	FIX(pthread_mutex_lock(&m);)
	v[at3] = 1; /* @race */
	FIX(pthread_mutex_unlock(&m);)
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	FIX(pthread_mutex_lock(&m);)
	v[at3] = 2; /* @race */
	FIX(pthread_mutex_unlock(&m);)
	return p;
}
int main(void)
{
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	run2(first, second);
	return 0;
}
