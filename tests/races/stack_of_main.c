/* A variable on the stack of main, by a pointer.
 * intact: race heap */
#include "race.h"
static volatile int *where;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *p)
{
	FIX(pthread_mutex_lock(&m);)
	*where = 1; /* @race */
	FIX(pthread_mutex_unlock(&m);)
	at(1);
	return p;
}
int main(void)
{
	pthread_t t;
	volatile int local = 0;
	where = &local;
	pthread_create(&t, NULL, work, NULL);
	at(2);
	FIX(pthread_mutex_lock(&m);)
	local = 2; /* @race */
	FIX(pthread_mutex_unlock(&m);)
	pthread_join(t, NULL);
	pthread_mutex_destroy(&m);
	return 0;
}
