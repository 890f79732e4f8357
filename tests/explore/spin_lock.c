/* explore: find assertion
 * A spin lock of atomics: test and set in two steps. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int lock, inside;

static void take(void)
{
#ifdef FIXED
	int no = 0;
	while (!atomic_compare_exchange_strong(&lock, &no, 1)) {
		no = 0;
		sched_yield();
	}
#else
	while (atomic_load(&lock))
		sched_yield();
	atomic_store(&lock, 1);
#endif
}

static void *worker(void *arg)
{
	take();
	assert(atomic_fetch_add(&inside, 1) == 0);
	atomic_fetch_sub(&inside, 1);
	atomic_store(&lock, 0);
	return arg;
}

int main(void)
{
	pthread_t t, u;
	pthread_create(&t, NULL, worker, NULL);
	pthread_create(&u, NULL, worker, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	return 0;
}
