/* A release fence without the acquire fence.
 * intact: race data */
#include "race.h"
static volatile int data, y;
static int flag;
static void *first(void *p)
{
	data = 1; /* @race */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&flag, 1, __ATOMIC_RELAXED);
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	int seen = __atomic_load_n(&flag, __ATOMIC_RELAXED);
	FIX(__atomic_thread_fence(__ATOMIC_ACQUIRE);)
	if (seen)
		y = data; /* @race */
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
