/* Published by a relaxed store.
 * intact: race data */
#include "race.h"
static volatile int data, y;
static int flag;
static void *first(void *p)
{
	data = 1; /* @race */
	__atomic_store_n(&flag, 1, RACY(__ATOMIC_RELAXED) FIX(__ATOMIC_RELEASE));
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
