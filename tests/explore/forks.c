/* explore: refuses it forks a process
 * What a second process does is beyond the scheduler. */
#include <pthread.h>
#include <unistd.h>

static void *worker(void *arg)
{
#ifndef FIXED
	if (fork() == 0)
		_exit(0);
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
