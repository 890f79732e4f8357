/* The acquire is of another variable.
 * intact: race data */
#include "race.h"
static volatile int data, y;
static int flag, other;
static void *first(void *p)
{
	data = 1; /* @race */
	__atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&other, 1, __ATOMIC_RELAXED);
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	__atomic_load_n(RACY(&other) FIX(&flag), __ATOMIC_ACQUIRE);
	y = data; /* @race */
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
