/* A semaphore that lets two in is no lock: what they share is unprotected.
 * intact: find update any */
#include <pthread.h>
#include "sched.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static long n = 2;
static volatile long x;
static void take(void)
{
	pthread_mutex_lock(&m);
	while (!n)
		pthread_cond_wait(&c, &m);
	n--;
	pthread_mutex_unlock(&m);
}
static void give(void)
{
	pthread_mutex_lock(&m);
	n++;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
}
static void update(int turn)
{ /* @entered */
	take();
	at(turn + 1);
	while (sched_step < 2) /* both are in */
		sched_yield();
	at(turn + 3);
	long v = x; /* @commit */
	x = v + 1; /* @violation */
	at(turn + 5);
	give();
}
static void *worker(void *arg)
{
	update(arg != NULL);
	return NULL;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, i ? t : NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return n == 2 ? 0 : 1;
}
