/* A plain store, then an atomic load.
 * intact: race x */
#include "race.h"
static int x;
static volatile int y;
static void *first(void *p)
{
	RACY(*(volatile int *)&x = 2; /* @race */)
	FIX(__atomic_store_n(&x, 1, __ATOMIC_SEQ_CST);)
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	RACY(y = __atomic_load_n(&x, __ATOMIC_RELAXED); /* @race */)
	FIX(y = __atomic_load_n(&x, __ATOMIC_SEQ_CST);)
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
