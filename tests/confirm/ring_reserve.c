/* confirm: finds publish -- a slot is chosen in one section and filled in another: two threads fill one slot. */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int ring[4];
static unsigned head;

static void publish(int v)
{
	pthread_mutex_lock(&m);
	unsigned at = head % 4;
#ifndef FIXED
	pthread_mutex_unlock(&m);
	v *= 3;
	pthread_mutex_lock(&m);
#endif
	ring[at] = v;
	head = at + 1;
	pthread_mutex_unlock(&m);
}

static void *worker(void *arg)
{
	publish(*(int *)arg);
	return NULL;
}

int main(void)
{
	pthread_t t[2];
	int v[2] = { 1, 2 };
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, &v[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
