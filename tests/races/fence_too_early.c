/* The release fence comes before the data.
 * intact: race data */
#include "race.h"
static volatile int data, y;
static int flag;
static void *first(void *p)
{
	FIX(data = 1;)
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	RACY(data = 1; /* @race */)
	__atomic_store_n(&flag, 1, __ATOMIC_RELAXED);
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	if (__atomic_load_n(&flag, __ATOMIC_ACQUIRE))
		y = data; /* @race */
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
