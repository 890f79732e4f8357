/* explore: find deadlock
 * A handler that a constructor has installed, before main: a signal runs it there, too. It takes the mutex that the
 * thread holds. */
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

__attribute__((constructor)) static void begin(void)
{
	signal(SIGUSR1, handler);
}

static void *worker(void *arg)
{
	pthread_mutex_lock(&m);
	count++;
#ifdef FIXED
	pthread_mutex_unlock(&m);
#endif
	pthread_kill(pthread_self(), SIGUSR1);
#ifndef FIXED
	pthread_mutex_unlock(&m);
#endif
	return arg;
}

int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, worker, NULL);
	pthread_mutex_lock(&m);
	count++;
	pthread_mutex_unlock(&m);
	pthread_join(t, NULL);
	return count != 3;
}
