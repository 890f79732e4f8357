/* confirm: finds note -- the count beside the locked data has no lock at all. */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int data, calls;

static void note(int v)
{
#ifdef FIXED
	pthread_mutex_lock(&m);
	data += v;
	calls = calls + 1;
	pthread_mutex_unlock(&m);
#else
	pthread_mutex_lock(&m);
	data += v;
	pthread_mutex_unlock(&m);
	int n = calls;
	calls = n + 1;
#endif
}

static void *worker(void *arg)
{
	for (int i = 0; i < 3; i++)
		note(*(int *)arg);
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
