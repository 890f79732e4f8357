/* explore: find assertion
 * Thread-local data is fresh in every thread; a key's destructor runs at its end, before the join. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static __thread int mine = 5;
static pthread_key_t key;
static atomic_int freed;

static void drop(void *p)
{
	free(p);
	atomic_fetch_add(&freed, 1);
}

static void *worker(void *arg)
{
	assert(mine == 5);
	mine = 6;
	pthread_setspecific(key, malloc(8));
	return arg;
}

int main(void)
{
	pthread_t t, u;
	pthread_key_create(&key, drop);
	pthread_create(&t, NULL, worker, NULL);
	pthread_create(&u, NULL, worker, NULL);
	pthread_join(t, NULL);
#ifdef FIXED
	pthread_join(u, NULL);
	assert(freed == 2);
#else
	assert(freed == 2);
	pthread_join(u, NULL);
#endif
	assert(mine == 5);
	return 0;
}
