/* Published after it was announced.
 * intact: race data */
#include "race.h"
static volatile int data, y;
static int flag;
static void *first(void *p)
{
	FIX(data = 1;)
	__atomic_store_n(&flag, 1, __ATOMIC_SEQ_CST);
	RACY(data = 1; /* @race */)
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	if (__atomic_load_n(&flag, __ATOMIC_SEQ_CST))
		y = data; /* @race */
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
