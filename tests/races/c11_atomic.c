/* C11: _Atomic with a relaxed order.
 * intact: race data */
#include "race.h"
#include <stdatomic.h>
static _Atomic int flag;
static volatile int data, y;
static void *first(void *p)
{
	data = 1; /* @race */
	atomic_store_explicit(&flag, 1, RACY(memory_order_relaxed) FIX(memory_order_release));
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	if (atomic_load_explicit(&flag, memory_order_acquire))
		y = data; /* @race */
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
