/* A signal without the mutex orders nothing.
 * intact: race data */
#include "race.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static volatile int ready, data, y;
static void *first(void *p)
{
	pthread_mutex_lock(&m);
	at(1);
	while (!ready)
		pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m);
	at(4);
	y = data; /* @race */
	return p;
}
static void *second(void *p)
{
	at(2);
	FIX(data = 1;)
	pthread_mutex_lock(&m);
	ready = 1;
	pthread_mutex_unlock(&m);
	RACY(data = 1; /* @race */)
	pthread_cond_signal(&c);
	at(3);
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
