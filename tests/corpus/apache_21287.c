/* Apache bug 21287, mod_mem_cache: the reference is dropped in one section and looked at in the next: two threads
 * that drop the last two both find zero and free the object twice.
 * corpus: finds decrement_refcount -- stale value */
#include "corpus.h"
static pthread_mutex_t lock = MUTEX;
static int refcount = 2;
static volatile int cleaned;
static void drop(void)
{
	LOCK(lock);
	refcount--;
	UNLOCK(lock);
}
static bool unused(void)
{
	LOCK(lock);
	bool r = refcount == 0;
	UNLOCK(lock);
	return r;
}
static void decrement_refcount(void)
{
#ifdef FIXED
	LOCK(lock);
	bool last = --refcount == 0;
	UNLOCK(lock);
	if (last)
		cleaned = 1;
#else
	drop();
	GAP();
	if (unused())
		cleaned = 1;
#endif
}
static void *first(void *arg)
{
	decrement_refcount();
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	decrement_refcount();
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
