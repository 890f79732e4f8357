/* A write, hidden by an ordered read in between.
 * intact: race x */
#include "race.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int x, y;
static void *first(void *p)
{
	x = 1; /* @race */
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	pthread_mutex_lock(&m);
	y = x;
	pthread_mutex_unlock(&m);
	at(3);
	return p;
}
static void *third(void *p)
{
	at(4);
	FIX(pthread_mutex_lock(&m);)
	y = x; /* @race */
	FIX(pthread_mutex_unlock(&m);)
	return p;
}
int main(void)
{
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	run3(first, second, third);
	return 0;
}
