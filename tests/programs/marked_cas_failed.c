/* The other thread's compare-and-swap fails: it has read and changed nothing,
 * nobody but the block writes, and no cycle closes.
 * intact: none */
#include <intact/annotate.h>
#include <pthread.h>
#include <stdatomic.h>
#include "sched.h"
static _Atomic int owner = 7;
static int claim(int who)
{
	INTACT_ATOMIC("claim");
	int was = atomic_load(&owner);
	at(1);
	at(3);
	atomic_store(&owner, who);
	return was;
}
static void *other(void *arg)
{
	int free = 0;
	while (sched_step < 1)
		sched_yield();
	long got = atomic_compare_exchange_strong(&owner, &free, 2);
	at(2);
	return got ? arg : NULL;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, other, NULL);
	int was = claim(1);
	pthread_join(t, NULL);
	return was == 7 && owner == 1 ? 0 : 1;
}
