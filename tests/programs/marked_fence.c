/* Check, then act, with relaxed operations and fences between: fences order,
 * they do not exclude.
 * intact: find claim confirmed */
#include <intact/annotate.h>
#include <pthread.h>
#include <stdatomic.h>
#include "sched.h"
static _Atomic int owner;
static int claim(int who)
{
	INTACT_ATOMIC("claim"); /* @entered */
	if (atomic_load_explicit(&owner, memory_order_relaxed)) /* @commit */
		return 0;
	atomic_thread_fence(memory_order_acquire);
	if (who == 1) {
		at(1);
		at(3);
	}
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&owner, who, memory_order_relaxed); /* @violation */
	return 1;
}
static int second;
static void *other(void *arg)
{
	while (sched_step < 1)
		sched_yield();
	second = claim(2);
	at(2);
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, other, NULL);
	int first = claim(1);
	pthread_join(t, NULL);
	return first && second && owner == 1 ? 0 : 1; /* both have it */
}
