/* Only the writer locks.
 * intact: race x */
#include "race.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int x, y;
static void *first(void *p)
{
	pthread_mutex_lock(&m);
	x = 1; /* @race */
	pthread_mutex_unlock(&m);
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	FIX(pthread_mutex_lock(&m);)
	y = x; /* @race */
	FIX(pthread_mutex_unlock(&m);)
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
