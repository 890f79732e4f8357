/* explore: find misuse
 * explore: says free
 * Test and free without a lock around both. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(int *) p;

static void *worker(void *arg)
{
#ifdef FIXED
	free(atomic_exchange(&p, NULL));
#else
	if (p) {
		free(p);
		p = NULL;
	}
#endif
	return arg;
}

int main(void)
{
	pthread_t t, u;
	p = malloc(sizeof *p);
	pthread_create(&t, NULL, worker, NULL);
	pthread_create(&u, NULL, worker, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	return 0;
}
