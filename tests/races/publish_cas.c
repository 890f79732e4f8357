/* Published by a relaxed compare-and-swap.
 * intact: race data */
#include "race.h"
static volatile int data, y;
static int flag;
static void *first(void *p)
{
	data = 1; /* @race */
	int none = 0;
	__atomic_compare_exchange_n(&flag, &none, 1, 0, RACY(__ATOMIC_RELAXED) FIX(__ATOMIC_RELEASE), __ATOMIC_RELAXED);
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
