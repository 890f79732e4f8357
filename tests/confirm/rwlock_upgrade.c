/* confirm: finds refresh -- a reader becomes a writer by way of no lock at all. */
#include <pthread.h>

static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static int version, data;

static void refresh(void)
{
#ifdef FIXED
	pthread_rwlock_wrlock(&l);
	int v = version;
#else
	pthread_rwlock_rdlock(&l);
	int v = version;
	pthread_rwlock_unlock(&l);
	pthread_rwlock_wrlock(&l);
#endif
	version = v + 1;
	data = v * 10;
	pthread_rwlock_unlock(&l);
}

static void *worker(void *arg)
{
	refresh();
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
