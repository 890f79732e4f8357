/* Data handed over through semaphores is never shared.
 * intact: none */
#define _GNU_SOURCE
#include <intact/annotate.h>
#include <pthread.h>
#include <semaphore.h>
static sem_t full, empty;
static int slot;
static void *producer(void *arg)
{
	for (int i = 0; i < 50; i++) {
		sem_wait(&empty);
		{
			INTACT_ATOMIC("fill");
			slot = slot + i;
			slot = slot * 2;
		}
		sem_post(&full);
	}
	return arg;
}
int main(void)
{
	pthread_t t;
	long sum = 0;
	sem_init(&full, 0, 0);
	sem_init(&empty, 0, 1);
	pthread_create(&t, NULL, producer, NULL);
	for (int i = 0; i < 50; i++) {
		sem_wait(&full);
		{
			INTACT_ATOMIC("drain");
			sum += slot;
			slot = 0;
		}
		sem_post(&empty);
	}
	pthread_join(t, NULL);
	return sum == 2450 ? 0 : 1;
}
