/* explore: refuses pthread_kill of another thread
 * Where a signal interrupts another thread is no point of that thread; one that it sends to itself is. */
#include <pthread.h>
#include <signal.h>

static volatile sig_atomic_t told;

static void handler(int sig)
{
	told = sig;
}

static void *worker(void *arg)
{
#ifdef FIXED
	pthread_kill(pthread_self(), SIGUSR1);
#endif
	return arg;
}

int main(void)
{
	pthread_t t;
	signal(SIGUSR1, handler);
	pthread_create(&t, NULL, worker, NULL);
#ifndef FIXED
	pthread_kill(t, SIGUSR1);
#endif
	pthread_join(t, NULL);
#ifdef FIXED
	return told != SIGUSR1;
#else
	return 0;
#endif
}
