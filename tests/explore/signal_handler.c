/* explore: find deadlock
 * A signal handler takes the mutex that the thread holds. */
#include <pthread.h>
#include <signal.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void handler(int sig)
{
	(void)sig;
	pthread_mutex_lock(&m);
	count++;
	pthread_mutex_unlock(&m);
}

static void *worker(void *arg)
{
	pthread_mutex_lock(&m);
	count++;
#ifdef FIXED
	pthread_mutex_unlock(&m);
	raise(SIGUSR1);
#else
	raise(SIGUSR1);
	pthread_mutex_unlock(&m);
#endif
	return arg;
}

int main(void)
{
	pthread_t t;
	signal(SIGUSR1, handler);
	pthread_create(&t, NULL, worker, NULL);
	pthread_mutex_lock(&m);
	count++;
	pthread_mutex_unlock(&m);
	pthread_join(t, NULL);
	return count != 3;
}
