/* explore: find misuse
 * explore: says mutex
 * The lock is destroyed before its last user is done. */
#include <pthread.h>

static pthread_mutex_t m;

static void *worker(void *arg)
{
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	return arg;
}

int main(void)
{
	pthread_t t;
	pthread_mutex_init(&m, NULL);
	pthread_create(&t, NULL, worker, NULL);
#ifdef FIXED
	pthread_join(t, NULL);
	pthread_mutex_destroy(&m);
#else
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	pthread_mutex_destroy(&m);
	pthread_join(t, NULL);
#endif
	return 0;
}
