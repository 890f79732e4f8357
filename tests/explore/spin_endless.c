/* explore: find endless
 * explore: says repeats the same reads
 * The flag is set before the thread that resets it has seen it. */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag;

static void *waiter(void *arg)
{
#ifndef FIXED
	atomic_store(&flag, 0); /* "to be sure" */
#endif
	while (!atomic_load(&flag))
		;
	return arg;
}

int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, waiter, NULL);
	atomic_store(&flag, 1);
	pthread_join(t, NULL);
	return 0;
}
