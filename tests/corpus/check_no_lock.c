/* The check is outside of the section that relies on it.
 * corpus: finds take -- check-then-act */
#include "corpus.h"
static pthread_mutex_t m = MUTEX;
static int items;
static void put(void)
{
	LOCK(m);
	items++;
	UNLOCK(m);
}
static void take_locked(void)
{
	LOCK(m);
	if (items > 0)
		items--;
	UNLOCK(m);
}
static void take(void)
{
#ifdef FIXED
	take_locked();
#else
	if (items > 0) {
		at(2);
		at(4);
		LOCK(m);
		items--;
		UNLOCK(m);
	}
#endif
}
static void *first(void *arg)
{
#ifndef FIXED
	while (sched_step < 1)
		sched_yield();
#endif
	take();
	return arg;
}
static void *second(void *arg)
{
	put();
#ifndef FIXED
	at(1);
	while (sched_step < 2)
		sched_yield();
#endif
	take_locked();
#ifndef FIXED
	at(3);
#endif
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
