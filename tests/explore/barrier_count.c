/* explore: find lost-wakeup
 * explore: says barrier
 * The barrier is for one more than come. */
#include <pthread.h>

static pthread_barrier_t b;

static void *worker(void *arg)
{
	pthread_barrier_wait(&b);
	return arg;
}

int main(void)
{
	pthread_t t;
#ifdef FIXED
	pthread_barrier_init(&b, NULL, 2);
#else
	pthread_barrier_init(&b, NULL, 3);
#endif
	pthread_create(&t, NULL, worker, NULL);
	pthread_barrier_wait(&b);
	pthread_join(t, NULL);
	pthread_barrier_destroy(&b);
	return 0;
}
