/* A lock of each object, but the data are shared.
 * intact: race total */
#include "race.h"
static struct account { pthread_mutex_t m; int n; } one = { PTHREAD_MUTEX_INITIALIZER, 0 }, two = { PTHREAD_MUTEX_INITIALIZER, 0 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int total;
static void *first(void *p)
{
	pthread_mutex_lock(&one.m);
	FIX(pthread_mutex_lock(&m);)
	total++; /* @race */
	FIX(pthread_mutex_unlock(&m);)
	pthread_mutex_unlock(&one.m);
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	pthread_mutex_lock(&two.m);
	FIX(pthread_mutex_lock(&m);)
	total++; /* @race */
	FIX(pthread_mutex_unlock(&m);)
	pthread_mutex_unlock(&two.m);
	return p;
}
int main(void)
{
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	run2(first, second);
	return 0;
}
