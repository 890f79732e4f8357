/* The last reference is given up without an acquire.
 * intact: race data */
#include "race.h"
static volatile int data, y;
static int count = 2;
static void *first(void *p)
{
	data = 1; /* @race */
	__atomic_fetch_sub(&count, 1, __ATOMIC_RELEASE);
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	if (__atomic_fetch_sub(&count, 1, RACY(__ATOMIC_RELEASE) FIX(__ATOMIC_ACQ_REL)) == 1)
		data = 2; /* @race */
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
