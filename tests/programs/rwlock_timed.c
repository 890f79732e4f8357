/* Timed and trying reader-writer locks.
 * intact: find increment predicted
 * explore: none -- its threads never overlap */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <time.h>
static pthread_rwlock_t m = PTHREAD_RWLOCK_INITIALIZER;
static struct timespec late = { .tv_sec = 4000000000 };
static int x;
static int get(void)
{
	pthread_rwlock_timedrdlock(&m, &late);
	int r = x;
	pthread_rwlock_unlock(&m); /* @commit */
	return r;
}
static void set(int v)
{
	while (pthread_rwlock_trywrlock(&m)) {} /* @violation */
	x = v;
	pthread_rwlock_unlock(&m);
}
static void increment(void)
{ /* @entered */
	set(get() + 1);
}
static void *worker(void *arg)
{
	increment();
	return arg;
}
int main(void)
{
	pthread_t t;
	(void)0;
	for (int i = 0; i < 2; i++) {
		pthread_create(&t, NULL, worker, NULL);
		pthread_join(t, NULL);
	}
	return x == 2 ? 0 : 1;
}
