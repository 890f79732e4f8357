/* A compare-and-swap fails, with a relaxed order for that.
 * intact: race data */
#include "race.h"
static volatile int data, y;
static int flag;
static void *first(void *p)
{
	data = 1; /* @race */
	__atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	int none = 0;
	if (!__atomic_compare_exchange_n(&flag, &none, 2, 0, __ATOMIC_ACQ_REL, RACY(__ATOMIC_RELAXED) FIX(__ATOMIC_ACQUIRE)))
		y = data; /* @race */
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
