/* Handlers that use instrumented code and locks-free data, thousands of them;
 * the disposition that sigaction reports is the program's own. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static volatile sig_atomic_t n;
static int seen[16];
static void handler(int sig, siginfo_t *info, void *ctx)
{
	(void)ctx;
	seen[n % 16] = sig + (info != 0);
	n++;
}
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop;
static int x;
static void *work(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		pthread_mutex_lock(&m);
		x++;
		pthread_mutex_unlock(&m);
		free(malloc(100));
	}
	return arg;
}
int main(void)
{
	pthread_t t;
	struct sigaction sa, old;
	memset(&sa, 0, sizeof sa);
	sa.sa_sigaction = handler;
	sa.sa_flags = SA_SIGINFO | SA_RESTART;
	sigaction(SIGUSR1, &sa, 0);
	sigaction(SIGUSR1, 0, &old);
	if (old.sa_sigaction != handler || old.sa_flags != (SA_SIGINFO | SA_RESTART) + 0)
		if ((old.sa_flags & ~0x04000000) != (SA_SIGINFO | SA_RESTART))
			return 2;
	if (signal(SIGUSR2, SIG_IGN) != SIG_DFL)
		return 3;
	pthread_create(&t, 0, work, 0);
	for (int i = 0; i < 5000; i++)
		pthread_kill(t, SIGUSR1);
	while (n < 100)
		pthread_kill(t, SIGUSR1);
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	pthread_join(t, 0);
	return 0;
}
