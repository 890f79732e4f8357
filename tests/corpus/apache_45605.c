/* Apache bug 45605, worker fdqueue: an idle worker is counted, then waits; the listener takes it in between and
 * the count wraps.
 * corpus: finds ap_queue_info_wait_for_idler -- lost update, check-then-act */
#include "corpus.h"
static pthread_mutex_t idlers_mutex = MUTEX;
static unsigned idlers = 1;
static int taken;
static unsigned idle(void)
{
	LOCK(idlers_mutex);
	unsigned n = idlers;
	UNLOCK(idlers_mutex);
	return n;
}
static void take(void)
{
	LOCK(idlers_mutex);
	idlers--;
	taken++;
	UNLOCK(idlers_mutex);
}
static void ap_queue_info_wait_for_idler(void)
{
#ifdef FIXED
	LOCK(idlers_mutex);
	if (idlers > 0) {
		idlers--;
		taken++;
	}
	UNLOCK(idlers_mutex);
#else
	if (idle() > 0) {
		GAP();
		take();
	}
#endif
}
static void *first(void *arg)
{
	ap_queue_info_wait_for_idler();
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	ap_queue_info_wait_for_idler();
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
