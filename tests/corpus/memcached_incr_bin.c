/* memcached 1.6.18, complete_incr_bin: "increment, or set to the initial value" is two steps; of two clients that
 * find no counter one fails.
 * corpus: finds complete_incr_bin -- check-then-act, torn read */
#include "corpus.h"
static pthread_mutex_t item_lock = MUTEX;
static int present;
static volatile int failed;
static long counter;
static bool add_delta(long delta)
{
	LOCK(item_lock);
	bool found = present;
	if (found)
		counter += delta;
	UNLOCK(item_lock);
	return found;
}
static bool store_item(long initial)
{
	LOCK(item_lock);
	bool stored = !present;
	if (stored) {
		present = 1;
		counter = initial;
	}
	UNLOCK(item_lock);
	return stored;
}
static void complete_incr_bin(long delta, long initial)
{
#ifdef FIXED
	LOCK(item_lock);
	if (present) {
		counter += delta;
	} else {
		present = 1;
		counter = initial;
	}
	UNLOCK(item_lock);
#else
	if (add_delta(delta))
		return;
	GAP();
	if (!store_item(initial))
		failed = 1;
#endif
}
static void *first(void *arg)
{
	complete_incr_bin(1, 0);
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	complete_incr_bin(1, 0);
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
