/* Mozilla js property cache (MUVI, fig. 1): the table is filled and `empty` cleared in two sections;
 * js_FlushPropertyCache in between believes there is nothing to flush.
 * corpus: finds js_FillPropertyCache -- broken invariant, intermediate state seen, stale value */
#include "corpus.h"
static pthread_mutex_t lock = MUTEX;
static volatile int table[4], empty = 1;
static void put(int i, int v)
{
	LOCK(lock);
	table[i] = v;
	UNLOCK(lock);
}
static void not_empty(void)
{
	LOCK(lock);
	empty = 0;
	UNLOCK(lock);
}
static void js_FillPropertyCache(int i, int v)
{
#ifdef FIXED
	LOCK(lock);
	table[i] = v;
	empty = 0;
	UNLOCK(lock);
#else
	put(i, v);
	GAP();
	not_empty();
#endif
}
static void js_FlushPropertyCache(void)
{
	LOCK(lock);
	for (int i = 0; i < 4; i++)
		table[i] = 0;
	empty = 1;
	UNLOCK(lock);
}
static void *first(void *arg)
{
	js_FillPropertyCache(1, 7);
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	js_FlushPropertyCache();
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
