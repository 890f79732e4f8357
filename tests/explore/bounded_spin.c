/* explore: find assertion
 * A loop that spins a few times and gives up is no endless loop. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag;

static void *setter(void *arg)
{
	atomic_store(&flag, 1);
	return arg;
}

int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, setter, NULL);
	int seen = 0;
	for (int i = 0; i < 5 && !seen; i++)
		seen = atomic_load(&flag);
#ifdef FIXED
	pthread_join(t, NULL);
	seen = atomic_load(&flag);
	assert(seen);
#else
	assert(seen);
	pthread_join(t, NULL);
#endif
	return 0;
}
