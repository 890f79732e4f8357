/* References are counted with relaxed operations.
 * intact: race data */
#include "race.h"
static volatile int data, y;
static int count = 2;
static void *first(void *p)
{
	data = 1; /* @race */
	__atomic_fetch_sub(&count, 1, RACY(__ATOMIC_RELAXED) FIX(__ATOMIC_ACQ_REL));
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	if (__atomic_fetch_sub(&count, 1, RACY(__ATOMIC_RELAXED) FIX(__ATOMIC_ACQ_REL)) == 1)
		data = 2; /* @race */
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
