/* Cherokee 326 (bogotime): the time is compared with the cached one, then the cached date is written: the
 * string of a thread that came in between is overwritten by an older one.
 * corpus: finds bogotime_update -- lost update, check-then-act */
#include "corpus.h"
static pthread_mutex_t lock = MUTEX;
static long bogonow_now;
static char bogonow_str[16];
static long cached(void)
{
	LOCK(lock);
	long n = bogonow_now;
	UNLOCK(lock);
	return n;
}
static void format(long now)
{
	LOCK(lock);
	bogonow_now = now;
	bogonow_str[0] = (char)('0' + now % 10);
	UNLOCK(lock);
}
static void bogotime_update(long now)
{
#ifdef FIXED
	LOCK(lock);
	if (bogonow_now < now) {
		bogonow_now = now;
		bogonow_str[0] = (char)('0' + now % 10);
	}
	UNLOCK(lock);
#else
	if (cached() >= now)
		return;
	GAP();
	format(now);
#endif
}
static void *first(void *arg)
{
	bogotime_update(1);
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	bogotime_update(2);
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
