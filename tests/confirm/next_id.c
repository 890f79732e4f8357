/* confirm: finds next_id -- the same number is given out twice. */
#include <pthread.h>

static struct {
	pthread_mutex_t m;
	int last;
} ids = { PTHREAD_MUTEX_INITIALIZER, 0 };

static int next_id(void)
{
	int id;
	pthread_mutex_lock(&ids.m);
	id = ids.last + 1;
#ifndef FIXED
	pthread_mutex_unlock(&ids.m);
	pthread_mutex_lock(&ids.m);
#endif
	ids.last = id;
	pthread_mutex_unlock(&ids.m);
	return id;
}

static void *worker(void *arg)
{
	*(int *)arg = next_id();
	return NULL;
}

int main(void)
{
	pthread_t t[3];
	int id[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, worker, &id[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
