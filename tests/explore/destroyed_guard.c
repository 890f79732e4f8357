/* explore: find misuse
 * explore: says mutex
 * A mutex is destroyed when it is no longer found, although a thread that found it has not taken it yet, or has it. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static atomic_int there = 1, users;

static void *worker(void *arg)
{
#ifdef FIXED
	atomic_fetch_add(&users, 1);
#endif
	if (atomic_load(&there)) {
		pthread_mutex_lock(&guard);
		pthread_mutex_unlock(&guard);
	}
#ifdef FIXED
	atomic_fetch_sub(&users, 1);
#endif
	return arg;
}

int main(void)
{
	pthread_t t;
	pthread_mutex_lock(&guard);
	pthread_mutex_unlock(&guard);
	pthread_create(&t, NULL, worker, NULL);
	atomic_store(&there, 0);
#ifdef FIXED
	while (atomic_load(&users))
		sched_yield();
#endif
	pthread_mutex_destroy(&guard);
	pthread_join(t, NULL);
	return 0;
}
