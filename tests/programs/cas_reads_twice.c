/* What it reads the second time need not be what it read first: no swap says
 * that it is.
 * intact: find reads any */
#include <intact/annotate.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
static _Atomic int x;
static _Atomic int differ;
static sem_t go, done;
static void reads(void)
{
	INTACT_ATOMIC("reads"); /* @entered */
	int first = atomic_load(&x); /* @commit */
	sem_post(&go);
	sem_wait(&done);
	int again = atomic_load(&x); /* @violation */
	atomic_fetch_add(&differ, first != again);
}
static void *writer(void *arg)
{
	sem_wait(&go);
	atomic_fetch_add(&x, 1);
	sem_post(&done);
	return arg;
}
int main(void)
{
	pthread_t t;
	sem_init(&go, 0, 0);
	sem_init(&done, 0, 0);
	pthread_create(&t, NULL, writer, NULL);
	reads();
	pthread_join(t, NULL);
	return !differ;
}
