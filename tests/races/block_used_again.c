/* A block that is freed and used again is another; the counter beside it is not.
 * intact: race n */
#include "race.h"
static volatile int n;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *first(void *p)
{
	int *v = malloc(64);
	*(volatile int *)v = 1;
	free(v);
	FIX(pthread_mutex_lock(&m);)
	n++; /* @race */
	FIX(pthread_mutex_unlock(&m);)
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	int *v = malloc(64);
	*(volatile int *)v = 2;
	free(v);
	FIX(pthread_mutex_lock(&m);)
	n++; /* @race */
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
