/* A counter without a lock beside data with one.
 * intact: find record any */
#include <pthread.h>
#include "sched.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int data, hits;
static void record(int v)
{ /* @entered */
	pthread_mutex_lock(&m);
	data += v;
	pthread_mutex_unlock(&m);
	int h = hits; /* @commit */
	hits = h + 1; /* @violation */
}
static void *one(void *arg)
{
	record(1);
	at(1);
	at(3);
	record(1);
	return arg;
}
static void *two(void *arg)
{
	while (sched_step < 1)
		sched_yield();
	record(2);
	record(2);
	at(2);
	return arg;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, one, NULL);
	pthread_create(&b, NULL, two, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return hits == 4 ? 0 : 1;
}
