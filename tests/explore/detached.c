/* explore: find abort
 * main ends the program while a detached thread is in the middle: its work may be missing. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_int done;

static void *worker(void *arg)
{
	atomic_store(&done, 1);
	return arg;
}

static void at_exit(void)
{
	if (!atomic_load(&done))
		abort();
}

int main(void)
{
	pthread_t t;
	pthread_attr_t a;
	atexit(at_exit);
	pthread_attr_init(&a);
	pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
	pthread_create(&t, &a, worker, NULL);
#ifdef FIXED
	while (!atomic_load(&done))
		usleep(1000);
#endif
	return 0;
}
