/* After a wait that timed out, data are used without the mutex.
 * intact: race x */
#include "race.h"
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static volatile int x;
static void *first(void *p)
{
	pthread_mutex_lock(&m);
	struct timespec now = { 1, 0 };
	pthread_cond_timedwait(&c, &m, &now);
	RACY(pthread_mutex_unlock(&m);)
	x = 1; /* @race */
	FIX(pthread_mutex_unlock(&m);)
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	pthread_mutex_lock(&m);
	x = 2; /* @race */
	pthread_mutex_unlock(&m);
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
