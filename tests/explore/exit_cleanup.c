/* explore: find deadlock
 * pthread_exit runs cleanup handlers; the mutex that none gives back stays locked. */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void unlock(void *arg)
{
	pthread_mutex_unlock(arg);
}

static void leave(void)
{
	pthread_exit(NULL);
}

static void *worker(void *arg)
{
	pthread_mutex_lock(&m);
#ifdef FIXED
	pthread_cleanup_push(unlock, &m);
	leave();
	pthread_cleanup_pop(0);
#else
	(void)unlock;
	leave();
#endif
	return arg;
}

int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, worker, NULL);
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	pthread_join(t, NULL);
	return 0;
}
