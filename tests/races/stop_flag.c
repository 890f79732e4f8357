/* A flag to stop, that is plain.
 * intact: race data */
#include "race.h"
static volatile int data, y;

static void *first(void *p)
{
	RACY(data = 1; /* @race */)
	FIX(__atomic_store_n(&data, 1, __ATOMIC_RELAXED);)
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	RACY(while (!data); /* @race */)
	FIX(while (!__atomic_load_n(&data, __ATOMIC_RELAXED));)
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
