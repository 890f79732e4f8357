/* A counter that is atomic in one place only.
 * intact: race x */
#include "race.h"
static int x;
static volatile int y;
static void *first(void *p)
{
	RACY(__atomic_fetch_add(&x, 1, __ATOMIC_SEQ_CST); /* @race */)
	FIX(__atomic_fetch_add(&x, 1, __ATOMIC_SEQ_CST);)
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	RACY((*(volatile int *)&x)++; /* @race */)
	FIX(__atomic_fetch_add(&x, 1, __ATOMIC_SEQ_CST);)
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
