/* confirm: finds instance -- two threads both make the one instance. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int *the_one;

static int *instance(void)
{
	pthread_mutex_lock(&m);
	int *p = the_one;
#ifndef FIXED
	pthread_mutex_unlock(&m);
	if (p)
		return p;
	pthread_mutex_lock(&m);
#endif
	if (!p)
		the_one = p = calloc(1, sizeof *p);
	pthread_mutex_unlock(&m);
	return p;
}

static void drop(void)
{
	pthread_mutex_lock(&m);
	the_one = NULL;
	pthread_mutex_unlock(&m);
}

static void *worker(void *arg)
{
	(void)arg;
	drop();
	return instance();
}

int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
