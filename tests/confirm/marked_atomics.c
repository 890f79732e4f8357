/* confirm: finds hit -- a marked block loads and stores an atomic. */
#include <intact/annotate.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int hits;

static void hit(void)
{
	INTACT_ATOMIC("hit");
#ifdef FIXED
	atomic_fetch_add(&hits, 1);
#else
	atomic_store(&hits, atomic_load(&hits) + 1);
#endif
}

static void *worker(void *arg)
{
	hit();
	return arg;
}

int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
