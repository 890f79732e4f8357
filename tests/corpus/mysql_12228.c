/* MySQL bug 12228: sp_cache: a routine is looked up, and inserted when it is not there; two threads insert it.
 * corpus: finds sp_find_or_load -- lost update, check-then-act, torn read */
#include "corpus.h"
static pthread_mutex_t Cversion_lock = MUTEX;
static int cached, loads;
static int sp_cache_lookup(void)
{
	LOCK(Cversion_lock);
	int c = cached;
	UNLOCK(Cversion_lock);
	return c;
}
static void sp_cache_insert(int v)
{
	LOCK(Cversion_lock);
	cached = v;
	loads++;
	UNLOCK(Cversion_lock);
}
static void sp_find_or_load(int v)
{
#ifdef FIXED
	LOCK(Cversion_lock);
	if (!cached) {
		cached = v;
		loads++;
	}
	UNLOCK(Cversion_lock);
#else
	if (!sp_cache_lookup()) {
		GAP();
		sp_cache_insert(v);
	}
#endif
}
static void *first(void *arg)
{
	sp_find_or_load(1);
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	sp_find_or_load(2);
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
