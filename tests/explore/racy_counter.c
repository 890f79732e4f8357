/* explore: find assertion
 * explore: option --races=no
 * Plain increments: the accesses become points because they race. */
#include <assert.h>
#include <pthread.h>
#ifdef FIXED
#include <stdatomic.h>
static atomic_int count;
#else
static int count;
#endif

static void *worker(void *arg)
{
	for (int i = 0; i < 2; i++)
		count++;
	return arg;
}

int main(void)
{
	pthread_t t, u;
	pthread_create(&t, NULL, worker, NULL);
	pthread_create(&u, NULL, worker, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	assert(count == 4);
	return 0;
}
