/* CVE-2016-10200 (Linux l2tp_ip6_bind): whether the socket is bound already is looked at before the lock is taken for
 * binding: two binds both go ahead, and the socket is in the table twice.
 * corpus: finds l2tp_ip6_bind -- lost update, check-then-act */
#include "corpus.h"
static pthread_mutex_t sk_lock = MUTEX;
static volatile int zapped = 1;
static int table[4], entries;
static int sock_zapped(void)
{
	LOCK(sk_lock);
	int z = zapped;
	UNLOCK(sk_lock);
	return z;
}
static void bind_table(int conn)
{
	LOCK(sk_lock);
	table[entries++ & 3] = conn;
	zapped = 0;
	UNLOCK(sk_lock);
}
static void l2tp_ip6_bind(int conn)
{
#ifdef FIXED
	LOCK(sk_lock);
	if (zapped) {
		table[entries++ & 3] = conn;
		zapped = 0;
	}
	UNLOCK(sk_lock);
#else
	if (!sock_zapped())
		return;
	GAP();
	bind_table(conn);
#endif
}
static void *first(void *arg)
{
	l2tp_ip6_bind(1);
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	l2tp_ip6_bind(2);
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
