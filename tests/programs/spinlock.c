/* Spin locks.
 * intact: find increment predicted
 * explore: none -- its threads never overlap */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <time.h>
static pthread_spinlock_t m;
static int x;
static int get(void)
{
	pthread_spin_lock(&m);
	int r = x;
	pthread_spin_unlock(&m); /* @commit */
	return r;
}
static void set(int v)
{
	pthread_spin_lock(&m); /* @violation */
	x = v;
	pthread_spin_unlock(&m);
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
	pthread_spin_init(&m, PTHREAD_PROCESS_PRIVATE);
	for (int i = 0; i < 2; i++) {
		pthread_create(&t, NULL, worker, NULL);
		pthread_join(t, NULL);
	}
	return x == 2 ? 0 : 1;
}
