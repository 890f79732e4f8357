/* explore: refuses a thread is created by a direct system call
 * A thread that libc does not know has no descriptor to switch to. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

static int body(void *arg)
{
	return arg != NULL;
}

static void *worker(void *arg)
{
#ifndef FIXED
	char *stack = malloc(65536);
	clone(body, stack + 65536, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, NULL);
#else
	body(arg);
#endif
	return arg;
}

int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, worker, NULL);
	pthread_join(t, NULL);
	return 0;
}
