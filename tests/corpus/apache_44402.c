/* Apache bug 44402 (recycled pools): the list is read in one section, and set to what followed in the next.
 * corpus: finds ap_queue_info_set_idle -- lost update */
#include "corpus.h"
static pthread_mutex_t lock = MUTEX;
static long recycled_pools;
static long head(void)
{
	LOCK(lock);
	long p = recycled_pools;
	UNLOCK(lock);
	return p;
}
static void set_head(long p)
{
	LOCK(lock);
	recycled_pools = p;
	UNLOCK(lock);
}
static void ap_queue_info_set_idle(long pool)
{
#ifdef FIXED
	LOCK(lock);
	recycled_pools = recycled_pools * 8 + pool;
	UNLOCK(lock);
#else
	long next = head();
	GAP();
	set_head(next * 8 + pool);
#endif
}
static void *first(void *arg)
{
	ap_queue_info_set_idle(1);
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	ap_queue_info_set_idle(2);
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
