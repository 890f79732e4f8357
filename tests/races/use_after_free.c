/* A block is freed while another thread reads it.
 * intact: race heap */
#include "race.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int *h, y;
static void *first(void *p)
{
	FIX(pthread_mutex_lock(&m);)
	y = *h; /* @race */
	FIX(pthread_mutex_unlock(&m);)
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	FIX(pthread_mutex_lock(&m); pthread_mutex_unlock(&m);)
	free((void *)h); /* @race */
	return p;
}
int main(void)
{
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	h = calloc(4, sizeof *h);
	run2(first, second);
	return 0;
}
