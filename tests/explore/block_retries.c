/* A block that is a loop of load and compare-and-swap is one access, its last: what it read in vain counts no more. A
 * second variable that is read only once, before the loop, does.
 * explore: find atomicity
 * explore: says block 'take' */
#include <intact/annotate.h>
#include <pthread.h>
#include <stdatomic.h>
static _Atomic int limit = 2, taken;
static int take(void)
{
	INTACT_ATOMIC("take");
#ifdef FIXED
	int most = 2;
#else
	int most = atomic_load(&limit);
#endif
	int old = atomic_load(&taken);
	while (old < most && !atomic_compare_exchange_strong(&taken, &old, old + 1))
		;
	return old < most;
}
static void *taker(void *arg)
{
	take();
	return arg;
}
static void *closer(void *arg)
{
	take();
	atomic_store(&limit, 0);
	atomic_fetch_add(&taken, 1);
	return arg;
}
int main(void)
{
	pthread_t t[2];
	pthread_create(&t[0], NULL, taker, NULL);
	pthread_create(&t[1], NULL, closer, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
