/* explore: refuses asynchronous cancellation
 * Cancellation at any instruction cannot be simulated; deferred cancellation can. */
#include <pthread.h>
#include <semaphore.h>

static sem_t never, begun;

static void *worker(void *arg)
{
#ifndef FIXED
	int old;
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
#endif
	sem_post(&begun);
	sem_wait(&never);
	return arg;
}

int main(void)
{
	pthread_t t;
	sem_init(&never, 0, 0);
	sem_init(&begun, 0, 0);
	pthread_create(&t, NULL, worker, NULL);
	sem_wait(&begun);
	pthread_cancel(t);
	pthread_join(t, NULL);
	return 0;
}
