/* Prints the signals that are ignored, handled or blocked: what a program
 * inherits must be what it would alone. */
#include <signal.h>
#include <stdio.h>

int main(void)
{
	sigset_t mask;
	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (int sig = 1; sig < 32; sig++) {
		struct sigaction a;
		if (sig == SIGKILL || sig == SIGSTOP || sigaction(sig, NULL, &a))
			continue;
		if (a.sa_handler != SIG_DFL || sigismember(&mask, sig))
			printf("%d ", sig);
	}
	puts(".");
	return 0;
}
