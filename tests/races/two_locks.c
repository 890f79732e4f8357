/* Each thread has a lock, but not the same.
 * intact: race x */
#include "race.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static volatile int x;
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
	pthread_mutex_lock(RACY(&other) FIX(&m));
	x = 2; /* @race */
	pthread_mutex_unlock(RACY(&other) FIX(&m));
	return p;
}
int main(void)
{
	pthread_mutex_lock(&other);
	pthread_mutex_unlock(&other);
	run2(first, second);
	return 0;
}
