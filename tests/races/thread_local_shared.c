/* A thread-local variable, whose address another thread has.
 * intact: race heap */
#include "race.h"
static __thread volatile int own;
static volatile int *volatile shared;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *first(void *p)
{
	pthread_mutex_lock(&m);
	shared = &own;
	pthread_mutex_unlock(&m);
	at(1);
	at(3);
	FIX(pthread_mutex_lock(&m);)
	own = 2; /* @race */
	FIX(pthread_mutex_unlock(&m);)
	at(4);
	return p;
}
static void *second(void *p)
{
	at(2);
	pthread_mutex_lock(&m);
	volatile int *v = shared;
	RACY(pthread_mutex_unlock(&m);)
	*v = 1; /* @race */
	FIX(pthread_mutex_unlock(&m);)
	while (sched_step < 4)
		sched_yield();
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
