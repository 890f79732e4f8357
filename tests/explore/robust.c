/* explore: find deadlock
 * A thread ends with the mutex held: only a robust one lets the next in. */
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t m;

static void *worker(void *arg)
{
	pthread_mutex_lock(&m);
	return arg;
}

int main(void)
{
	pthread_t t;
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
#ifdef FIXED
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
#endif
	pthread_mutex_init(&m, &a);
	pthread_create(&t, NULL, worker, NULL);
	pthread_join(t, NULL);
	int r = pthread_mutex_lock(&m);
	if (r != EOWNERDEAD || pthread_mutex_consistent(&m))
		return 5;
	pthread_mutex_unlock(&m);
	return 0;
}
