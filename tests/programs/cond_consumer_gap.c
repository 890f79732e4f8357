/* As cond_consumer, but what is taken was seen in the section before, the one that
 * waited.
 * intact: find consume any */
#include <pthread.h>
#include "sched.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int items, taken;
static void consume(void)
{ /* @entered */
	pthread_mutex_lock(&m);
	while (!items) {
		once_at(1);
		pthread_cond_wait(&c, &m);
	}
	int n = items;
	pthread_mutex_unlock(&m); /* @commit */
	pthread_mutex_lock(&m); /* @violation */
	items = n - 1;
	taken++;
	pthread_mutex_unlock(&m);
}
static void *consumer(void *arg)
{
	consume();
	return arg;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, consumer, NULL);
	at(2);
	pthread_mutex_lock(&m);
	items = 2;
	pthread_cond_broadcast(&c);
	pthread_mutex_unlock(&m);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return taken - 2;
}
