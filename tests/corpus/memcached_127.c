/* memcached issue 127: incr on an item that another client replaces between item_get and add_delta: an increment is lost.
 * corpus: finds process_arithmetic_command -- lost update */
#include "corpus.h"
struct item {
	int refcount;
	long value;
};
static pthread_mutex_t cache_lock = MUTEX;
static struct item it;
static long item_get(void)
{
	LOCK(cache_lock);
	it.refcount++;
	long v = it.value;
	UNLOCK(cache_lock);
	return v;
}
static void add_delta(long v)
{
	LOCK(cache_lock);
	it.value = v;
	UNLOCK(cache_lock);
}
static void item_remove(void)
{
	LOCK(cache_lock);
	it.refcount--;
	UNLOCK(cache_lock);
}
static void process_arithmetic_command(long delta)
{
#ifdef FIXED
	LOCK(cache_lock);
	it.value += delta;
	UNLOCK(cache_lock);
#else
	long v = item_get();
	GAP();
	add_delta(v + delta);
	item_remove();
#endif
}
static void *first(void *arg)
{
	process_arithmetic_command(1);
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	process_arithmetic_command(1);
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
