/* Thousands of accesses lie between the two.
 * intact: race x */
#include "race.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int x, other[512];
static void *first(void *p)
{
	FIX(pthread_mutex_lock(&m);)
	x = 1; /* @race */
	FIX(pthread_mutex_unlock(&m);)
	for (int k = 0; k < 200; k++) {
		pthread_mutex_lock(&m);
		for (int i = 0; i < 512; i++)
			other[i] += i;
		pthread_mutex_unlock(&m);
	}
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	FIX(pthread_mutex_lock(&m);)
	x = 2; /* @race */
	FIX(pthread_mutex_unlock(&m);)
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
