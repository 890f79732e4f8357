/* CVE-2016-8655 (Linux af_packet): packet_set_ring checks the version and sets the timer up in two sections;
 * setsockopt changes the version in between.
 * corpus: finds packet_set_ring -- stale value, check-then-act, torn read */
#include "corpus.h"
static pthread_mutex_t sk_lock = MUTEX;
static int tp_version = 3, timer_set, rx_ring;
static int version(void)
{
	LOCK(sk_lock);
	int v = tp_version;
	UNLOCK(sk_lock);
	return v;
}
static void swap_rings(int v)
{
	LOCK(sk_lock);
	rx_ring = v;
	timer_set = v == 3;
	UNLOCK(sk_lock);
}
static void packet_set_ring(void)
{
#ifdef FIXED
	LOCK(sk_lock);
	rx_ring = tp_version;
	timer_set = tp_version == 3;
	UNLOCK(sk_lock);
#else
	int v = version();
	GAP();
	swap_rings(v);
#endif
}
static void packet_setsockopt(int v)
{
	LOCK(sk_lock);
	if (!rx_ring)
		tp_version = v;
	UNLOCK(sk_lock);
}
static void *first(void *arg)
{
	packet_set_ring();
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	packet_setsockopt(1);
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
