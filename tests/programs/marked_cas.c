/* One compare-and-swap claims it: a single non-mover.
 * intact: none */
#include <intact/annotate.h>
#include <pthread.h>
#include <stdatomic.h>
static _Atomic int owner, wins;
static int claim(int who)
{
	INTACT_ATOMIC("claim");
	int none = 0;
	return atomic_compare_exchange_strong(&owner, &none, who);
}
static void *worker(void *arg)
{
	for (int i = 0; i < 50; i++)
		if (claim((int)(long)arg)) {
			atomic_fetch_add(&wins, 1);
			atomic_store(&owner, 0);
		}
	return arg;
}
int main(void)
{
	pthread_t t[2];
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, (void *)(i + 1));
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return wins > 0 ? 0 : 1;
}
