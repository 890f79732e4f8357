/* A ticket lock whose waiter looks with a relaxed load.
 * intact: race data */
#include "race.h"
static volatile int data, y;
static int next, serving;
static void take(void)
{
	int mine = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
	while (__atomic_load_n(&serving, RACY(__ATOMIC_RELAXED) FIX(__ATOMIC_ACQUIRE)) != mine);
}
static void give(void)
{
	__atomic_fetch_add(&serving, 1, __ATOMIC_RELEASE);
}
static void *first(void *p)
{
	take();
	data++; /* @race */
	give();
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	take();
	data++; /* @race */
	give();
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
