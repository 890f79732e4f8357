/* A sequence lock whose data are not atomic.
 * intact: race data */
#include "race.h"
static volatile int data, y;
static int seq;
static void *first(void *p)
{
	__atomic_fetch_add(&seq, 1, __ATOMIC_ACQ_REL);
	RACY(data = 1; /* @race */)
	FIX(__atomic_store_n(&data, 1, __ATOMIC_RELAXED);)
	at(1);
	at(3);
	__atomic_fetch_add(&seq, 1, __ATOMIC_RELEASE);
	at(4);
	return p;
}
static void *second(void *p)
{
	at(2);
	__atomic_load_n(&seq, __ATOMIC_RELAXED);
	RACY(y = data; /* @race */)
	FIX(y = __atomic_load_n(&data, __ATOMIC_RELAXED);)
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
