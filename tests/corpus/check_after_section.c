/* A check without the lock, in a function of its own, that acts under it; the thread took the same lock before. With few executions
 * only this order of looking finds it: the gap between the two sections of the thread's first function is no finding.
 * corpus: finds take -- check-then-act */
#include "corpus.h"
static pthread_mutex_t m = MUTEX;
static volatile int items, notes;
static volatile struct {
	char before[64];
	int yes;
	char after[64];
} there __attribute__((aligned(64)));
SCHED_HIDDEN static void say_there(void)
{
	there.yes = 1;
}
SCHED_HIDDEN static void wait_there(void)
{
	while (!there.yes)
		sched_yield();
}
static void put(void)
{
	LOCK(m);
	items++;
	UNLOCK(m);
}
static void note(void)
{
	LOCK(m);
	notes++;
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
		GAP();
		LOCK(m);
		items--;
		UNLOCK(m);
	}
#endif
}
static void *first(void *arg)
{
	note();
#ifndef FIXED
	wait_there();
#endif
	take();
	return arg;
}
static void *second(void *arg)
{
	note();
	put();
#ifndef FIXED
	say_there();
#endif
	INTRUDE();
	take_locked();
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
