/* Main has waited for one of the threads that race on the counter; the other can
 * still come in between.
 * intact: find summary any */
#include <pthread.h>
#include <semaphore.h>
#include "sched.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static sem_t done;
static int rows;
static volatile int hits;
static void add(void)
{
	pthread_mutex_lock(&m);
	rows++;
	pthread_mutex_unlock(&m);
	hits = 1;
}
static void summary(void)
{ /* @entered */
	pthread_mutex_lock(&m);
	rows = -rows;
	pthread_mutex_unlock(&m);
	int seen = hits; /* @commit */
	hits = seen + 1; /* @violation */
}
static void *worker(void *arg)
{
	add();
	if (arg) {
		at(1);
		sem_wait(&done); /* still there when main is in summary */
	}
	return NULL;
}
int main(void)
{
	pthread_t t[2];
	sem_init(&done, 0, 0);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, i ? t : NULL);
	pthread_join(t[0], NULL);
	at(2);
	summary();
	sem_post(&done);
	pthread_join(t[1], NULL);
	return 0;
}
