/* A robust mutex whose owner died is taken with EOWNERDEAD.
 * intact: none */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
static pthread_mutex_t m;
static int x;
static void *dies(void *arg)
{
	pthread_mutex_lock(&m);
	x = 1;
	return arg;
}
static int recover(void)
{
	int r = pthread_mutex_lock(&m);
	if (r == EOWNERDEAD)
		pthread_mutex_consistent(&m);
	x++;
	pthread_mutex_unlock(&m);
	return r;
}
static void *worker(void *arg)
{
	*(int *)arg = recover();
	return arg;
}
int main(void)
{
	pthread_t t;
	int r = 0;
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&m, &a);
	pthread_create(&t, NULL, dies, NULL);
	pthread_join(t, NULL);
	pthread_create(&t, NULL, worker, &r);
	pthread_join(t, NULL);
	return r == EOWNERDEAD && x == 2 ? 0 : 1;
}
