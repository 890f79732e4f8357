/* A timer's handler jumps out of whatever runs, the runtime included. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
static sigjmp_buf env;
static volatile int jumps, armed;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int data[64];
static void handler(int sig)
{
	(void)sig;
	if (armed) {
		armed = 0;
		jumps++;
		siglongjmp(env, 1);
	}
}
static void touch(int n)
{
	for (int i = 0; i < n; i++)
		data[i % 64] += i;
}
static int other;
static void *locker(void *arg)
{
	for (int i = 0; i < 20000; i++) {
		pthread_mutex_lock(&m);
		other++;
		pthread_mutex_unlock(&m);
	}
	return arg;
}
int main(void)
{
	struct sigaction sa;
	struct itimerval tv = { { 0, 500 }, { 0, 500 } };
	sigset_t alarm;
	pthread_t t;
	char *stack = malloc(65536);
	stack_t ss = { .ss_sp = stack, .ss_size = 65536 };
	sigaltstack(&ss, 0);
	memset(&sa, 0, sizeof sa);
	sa.sa_handler = handler;
	sa.sa_flags = SA_ONSTACK;
	sigaction(SIGALRM, &sa, 0);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, 0);
	pthread_create(&t, 0, locker, 0);
	pthread_sigmask(SIG_UNBLOCK, &alarm, 0);
	setitimer(ITIMER_REAL, &tv, 0);
	while (jumps < 200) {
		if (!sigsetjmp(env, 1)) {
			armed = 1;
			for (;;)
				touch(1000);
		}
	}
	memset(&tv, 0, sizeof tv);
	setitimer(ITIMER_REAL, &tv, 0);
	pthread_join(t, 0);
	return 0;
}
