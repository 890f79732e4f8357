/* explore: find assertion
 * A semaphore that begins with 2 lets two in. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

static sem_t s;
static atomic_int inside;

static void *worker(void *arg)
{
	sem_wait(&s);
	assert(atomic_fetch_add(&inside, 1) == 0);
	atomic_fetch_sub(&inside, 1);
	sem_post(&s);
	return arg;
}

int main(void)
{
	pthread_t t, u;
#ifdef FIXED
	sem_init(&s, 0, 1);
#else
	sem_init(&s, 0, 2);
#endif
	pthread_create(&t, NULL, worker, NULL);
	pthread_create(&u, NULL, worker, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	sem_destroy(&s);
	return 0;
}
