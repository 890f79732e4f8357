/* explore: find assertion
 * explore: says 3 switches, 1 of them a preemption
 * A consumer looks at the predicate once, and another takes the item that it was
 * woken for. The fewest preemptions need the thief to end, which is after what a
 * failing schedule shows of it. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int items;

static void *consumer(void *arg)
{
	pthread_mutex_lock(&m);
#ifdef FIXED
	while (!items)
#else
	if (!items)
#endif
		pthread_cond_wait(&c, &m);
	assert(items > 0);
	items--;
	pthread_mutex_unlock(&m);
	return arg;
}

static void *producer(void *arg)
{
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&m);
		items++;
		pthread_cond_signal(&c);
		pthread_mutex_unlock(&m);
	}
	return arg;
}

int main(void)
{
	pthread_t t[3];
	pthread_create(&t[0], NULL, consumer, NULL);
	pthread_create(&t[1], NULL, consumer, NULL);
	pthread_create(&t[2], NULL, producer, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
