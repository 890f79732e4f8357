/* Waits, lets go, and comes back for the data: another consumer can take it.
 * intact: find take any
 * intact: pattern check-then-act of 'items' */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int items;
static void await(void)
{
	pthread_mutex_lock(&m);
	while (!items)
		pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m); /* @commit */
}
static void remove_one(void)
{
	pthread_mutex_lock(&m); /* @violation */
	items--;
	pthread_mutex_unlock(&m);
}
static void take(void)
{ /* @entered */
	await();
	remove_one();
}
static void *consumer(void *arg)
{
	take();
	return arg;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, consumer, NULL);
	pthread_mutex_lock(&m);
	items = 2;
	pthread_cond_broadcast(&c);
	pthread_mutex_unlock(&m);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return items;
}
