/* confirm: finds note -- the count beside the locked data has no lock at all. */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static int data, calls;

static void note(int v)
{
#ifdef FIXED
	pthread_mutex_lock(&m);
	calls = calls + 1;
	data = v;
	pthread_mutex_unlock(&m);
#else
	calls = calls + 1;
	pthread_mutex_lock(&m);
	data = v;
	pthread_mutex_unlock(&m);
#endif
}

static void *worker(void *arg)
{
	pthread_barrier_wait(&both); /* or the second thread may come after the first's lock, in order */
	note(*(int *)arg);
	return NULL;
}

int main(void)
{
	pthread_t t[2];
	int v[2] = { 1, 2 };
	pthread_barrier_init(&both, NULL, 2);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, &v[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
