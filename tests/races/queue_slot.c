/* A slot of a queue is written after the index was moved.
 * intact: race data */
#include "race.h"
static volatile int data, y;
static int slots[4], tail;
static void *first(void *p)
{
	FIX(data = 5;)
	__atomic_store_n(&tail, 1, __ATOMIC_RELEASE);
	RACY(data = 5; /* @race */)
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	if (__atomic_load_n(&tail, __ATOMIC_ACQUIRE) > slots[0])
		y = data; /* @race */
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
