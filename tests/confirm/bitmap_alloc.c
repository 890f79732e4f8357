/* confirm: finds allocate -- a free bit is looked for, then set: two threads get the same. */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static unsigned used;

static int free_bit(void)
{
	int i = 0;
	while (i < 32 && used >> i & 1)
		i++;
	return i;
}

static int allocate(void)
{
	pthread_mutex_lock(&m);
	int i = free_bit();
#ifndef FIXED
	pthread_mutex_unlock(&m);
	pthread_mutex_lock(&m);
#endif
	used |= 1u << i;
	pthread_mutex_unlock(&m);
	return i;
}

static void *worker(void *arg)
{
	allocate();
	return arg;
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
