/* A thread waits for a plain flag.
 * intact: race go */
#include "race.h"
static volatile int go;
static void *first(void *p)
{
	RACY(go = 1; /* @race */)
	FIX(__atomic_store_n(&go, 1, __ATOMIC_RELEASE);)
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	RACY(while (!go);  /* @race */)
	FIX(while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE));)
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
