/* explore: find assertion
 * A consumer looks at the predicate once: two can be woken for one item. */
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
	pthread_mutex_lock(&m);
	items++;
	pthread_cond_broadcast(&c);
	pthread_mutex_unlock(&m);
	return arg;
}

int main(void)
{
	pthread_t t[4];
	pthread_create(&t[0], NULL, consumer, NULL);
	pthread_create(&t[1], NULL, consumer, NULL);
	pthread_create(&t[2], NULL, producer, NULL);
	pthread_create(&t[3], NULL, producer, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return 0;
}
