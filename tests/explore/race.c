/* explore: find race
 * explore: says data race
 * No lock at all on one side. */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *worker(void *arg)
{
	pthread_mutex_lock(&m);
	count++;
	pthread_mutex_unlock(&m);
	return arg;
}

int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, worker, NULL);
#ifdef FIXED
	pthread_mutex_lock(&m);
	int v = count;
	pthread_mutex_unlock(&m);
#else
	int v = count;
#endif
	pthread_join(t, NULL);
	return v > 1;
}
