/* A bounded queue: waiting in the middle of a section is meant.
 * intact: none */
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t full = PTHREAD_COND_INITIALIZER, empty = PTHREAD_COND_INITIALIZER;
static int *queue[4], head, tail;
static void put(int *p)
{
	pthread_mutex_lock(&m);
	while (tail - head == 4)
		pthread_cond_wait(&full, &m);
	queue[tail++ % 4] = p;
	pthread_cond_signal(&empty);
	pthread_mutex_unlock(&m);
}
static int *get(void)
{
	pthread_mutex_lock(&m);
	while (tail == head)
		pthread_cond_wait(&empty, &m);
	int *p = queue[head++ % 4];
	pthread_cond_signal(&full);
	pthread_mutex_unlock(&m);
	return p;
}
static void *producer(void *arg)
{
	for (int i = 1; i <= 100; i++) {
		int *p = malloc(sizeof *p);
		*p = i;
		put(p);
	}
	return arg;
}
static void *consumer(void *arg)
{
	for (int i = 1; i <= 100; i++) {
		int *p = get();
		*(int *)arg += *p;
		*p = 0;
		free(p);
	}
	return arg;
}
int main(void)
{
	pthread_t a, b;
	int sum = 0;
	pthread_create(&a, NULL, producer, NULL);
	pthread_create(&b, NULL, consumer, &sum);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return sum == 5050 ? 0 : 1;
}
