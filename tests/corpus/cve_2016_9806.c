/* CVE-2016-9806 (Linux netlink_dump): whether a dump is running is looked at, the dump is prepared, and only then
 * it is said to run: two begin, and its state is freed twice.
 * corpus: finds netlink_dump_start -- lost update, check-then-act */
#include "corpus.h"
static pthread_mutex_t cb_mutex = MUTEX;
static bool cb_running;
static int dumps;
static bool is_running(void)
{
	LOCK(cb_mutex);
	bool r = cb_running;
	UNLOCK(cb_mutex);
	return r;
}
static void set_running(void)
{
	LOCK(cb_mutex);
	cb_running = true;
	dumps++;
	UNLOCK(cb_mutex);
}
static int netlink_dump_start(void)
{
#ifdef FIXED
	LOCK(cb_mutex);
	bool busy = cb_running;
	if (!busy) {
		cb_running = true;
		dumps++;
	}
	UNLOCK(cb_mutex);
	return busy ? -1 : 0;
#else
	if (is_running())
		return -1;
	GAP();
	set_running();
	return 0;
#endif
}
static void *first(void *arg)
{
	netlink_dump_start();
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	netlink_dump_start();
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
