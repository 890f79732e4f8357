/* Two sections for one number, as MySQL bug 28249 (query cache) and countless identifiers: incremented, then asked
 * for.
 * corpus: finds next_query_id -- stale value */
#include "corpus.h"
static pthread_mutex_t LOCK_thread_count = MUTEX;
static long query_id;
static volatile long mine;
static void step(void)
{
	LOCK(LOCK_thread_count);
	query_id++;
	UNLOCK(LOCK_thread_count);
}
static long current(void)
{
	LOCK(LOCK_thread_count);
	long n = query_id;
	UNLOCK(LOCK_thread_count);
	return n;
}
static long next_query_id(void)
{
#ifdef FIXED
	LOCK(LOCK_thread_count);
	long n = ++query_id;
	UNLOCK(LOCK_thread_count);
	return n;
#else
	step();
	GAP();
	return current();
#endif
}
static void *first(void *arg)
{
	mine = next_query_id();
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	mine = next_query_id();
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
