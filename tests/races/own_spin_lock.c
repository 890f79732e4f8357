/* A spin lock of the program's own, released by a relaxed store.
 * intact: race data */
#include "race.h"
static volatile int data, y;
static int word;
static void take(void)
{
	while (__atomic_exchange_n(&word, 1, __ATOMIC_ACQUIRE));
}
static void give(void)
{
	__atomic_store_n(&word, 0, RACY(__ATOMIC_RELAXED) FIX(__ATOMIC_RELEASE));
}
static void *first(void *p)
{
	take();
	data++; /* @race */
	give();
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	take();
	data++; /* @race */
	give();
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
