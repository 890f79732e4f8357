/* Re-entrant acquires are no acquires.
 * intact: none */
#define _GNU_SOURCE
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int x;
static int get(void)
{
	pthread_mutex_lock(&m);
	int r = x;
	pthread_mutex_unlock(&m);
	return r;
}
static void set(int v)
{
	pthread_mutex_lock(&m);
	x = v;
	pthread_mutex_unlock(&m);
}
static void increment(void)
{
	pthread_mutex_lock(&m);
	set(get() + 1);
	pthread_mutex_unlock(&m);
}
static void *worker(void *arg)
{
	for (int i = 0; i < 50; i++)
		increment();
	return arg;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, worker, NULL);
	pthread_create(&b, NULL, worker, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return x == 100 ? 0 : 1;
}
