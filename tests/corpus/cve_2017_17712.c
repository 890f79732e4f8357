/* CVE-2017-17712 (Linux raw_sendmsg): inet->hdrincl is read twice; setsockopt changes it in between.
 * corpus: finds raw_sendmsg -- torn read */
#include "corpus.h"
static pthread_mutex_t sk_lock = MUTEX;
static int hdrincl = 1;
static volatile int header, payload;
static int get_hdrincl(void)
{
	LOCK(sk_lock);
	int h = hdrincl;
	UNLOCK(sk_lock);
	return h;
}
static void raw_sendmsg(void)
{
#ifdef FIXED
	LOCK(sk_lock);
	header = payload = hdrincl;
	UNLOCK(sk_lock);
#else
	header = get_hdrincl();
	GAP();
	payload = get_hdrincl();
#endif
}
static void raw_setsockopt(int v)
{
	LOCK(sk_lock);
	hdrincl = v;
	UNLOCK(sk_lock);
}
static void *first(void *arg)
{
	raw_sendmsg();
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	raw_setsockopt(0);
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
