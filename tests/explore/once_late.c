/* explore: find assertion
 * pthread_once is only asked by one of the two that need it. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_int ready;

static void init(void)
{
	atomic_store(&ready, 1);
}

static void *worker(void *arg)
{
#ifndef FIXED
	if (!arg)
#endif
		pthread_once(&once, init);
	assert(atomic_load(&ready));
	return NULL;
}

int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, worker, NULL);
	worker(&t);
	pthread_join(t, NULL);
	return 0;
}
