/* A relaxed store by another thread ends the release sequence.
 * intact: race data */
#include "race.h"
static volatile int data, y;
static int flag;
static void *third(void *p);
static void *first(void *p)
{
	data = 1; /* @race */
	__atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
	at(1);
	at(2);
	RACY(__atomic_store_n(&flag, 2, __ATOMIC_RELAXED);)
	FIX(__atomic_fetch_add(&flag, 1, __ATOMIC_RELAXED);)
	at(3);
	return p;
}
static void *second(void *p)
{
	at(4);
	if (__atomic_load_n(&flag, __ATOMIC_ACQUIRE) == 2)
		y = data; /* @race */
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
