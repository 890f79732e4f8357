/* A flag is read without the lock under which it and the table it is about are changed together.
 * corpus: finds remember -- check-then-act */
#include "corpus.h"
static pthread_mutex_t m = MUTEX;
static int open_for_all = 1;
static volatile int last;
static void shut(void)
{
	LOCK(m);
	open_for_all = 0;
	last = -1;
	UNLOCK(m);
}
static void open_again(void)
{
	LOCK(m);
	open_for_all = 1;
	last = 0;
	UNLOCK(m);
}
static void remember(int n)
{
#ifdef FIXED
	LOCK(m);
	if (open_for_all)
		last = n;
	UNLOCK(m);
#else
	if (open_for_all) {
		at(2);
		at(4);
		LOCK(m);
		last = n;
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
	remember(7);
	return arg;
}
static void *second(void *arg)
{
	open_again();
#ifndef FIXED
	at(1);
	while (sched_step < 2)
		sched_yield();
#endif
	shut();
#ifndef FIXED
	at(3);
#endif
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
