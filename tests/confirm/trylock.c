/* confirm: finds sample -- a try that succeeds, and a lock that is taken again. */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int peak, value;

static void sample(int v)
{
	if (pthread_mutex_trylock(&m))
		pthread_mutex_lock(&m);
	int old = peak;
	value = v;
#ifndef FIXED
	pthread_mutex_unlock(&m);
	pthread_mutex_lock(&m);
#endif
	peak = v > old ? v : old;
	pthread_mutex_unlock(&m);
}

static void *worker(void *arg)
{
	sample(*(int *)arg);
	return NULL;
}

int main(void)
{
	pthread_t t[2];
	int v[2] = { 5, 3 };
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, &v[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
