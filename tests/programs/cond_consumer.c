/* A consumer's loop behind a function that only calls it: each turn is a section of
 * its own, whether or not it had to wait.
 * intact: none */
#include <pthread.h>
#include "sched.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int items;
static void consume(int n)
{
	for (int i = 0; i < n; i++) {
		pthread_mutex_lock(&m);
		while (!items) {
			once_at(1); /* main has the lock next */
			pthread_cond_wait(&c, &m);
		}
		items--;
		pthread_mutex_unlock(&m);
	}
}
static void *consumer(void *arg)
{
	consume(*(int *)arg);
	return arg;
}
int main(void)
{
	pthread_t t[2];
	int turns = 3;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, consumer, &turns);
	at(2);
	for (int i = 0; i < 6; i++) {
		pthread_mutex_lock(&m);
		items++;
		pthread_cond_signal(&c);
		pthread_mutex_unlock(&m);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return items;
}
