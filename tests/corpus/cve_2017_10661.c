/* CVE-2017-10661 (Linux timerfd): might_cancel is tested and the timer entered in the list in two sections; it is
 * entered twice.
 * corpus: finds timerfd_setup_cancel -- lost update, check-then-act */
#include "corpus.h"
static pthread_mutex_t cancel_lock = MUTEX;
static int might_cancel, entries;
static int cancels(void)
{
	LOCK(cancel_lock);
	int c = might_cancel;
	UNLOCK(cancel_lock);
	return c;
}
static void list_add(void)
{
	LOCK(cancel_lock);
	might_cancel = 1;
	entries++;
	UNLOCK(cancel_lock);
}
static void timerfd_setup_cancel(void)
{
#ifdef FIXED
	LOCK(cancel_lock);
	if (!might_cancel) {
		might_cancel = 1;
		entries++;
	}
	UNLOCK(cancel_lock);
#else
	if (!cancels()) {
		GAP();
		list_add();
	}
#endif
}
static void *first(void *arg)
{
	timerfd_setup_cancel();
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	timerfd_setup_cancel();
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
