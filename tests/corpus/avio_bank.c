/* AVIO, fig. 1 (read, remote write, write): the balance is read and written back in two sections.
 * corpus: finds deposit -- lost update */
#include "corpus.h"
static pthread_mutex_t m = MUTEX;
static long balance = 100;
static long get_balance(void)
{
	LOCK(m);
	long b = balance;
	UNLOCK(m);
	return b;
}
static void set_balance(long b)
{
	LOCK(m);
	balance = b;
	UNLOCK(m);
}
static void deposit(long n)
{
#ifdef FIXED
	LOCK(m);
	balance += n;
	UNLOCK(m);
#else
	long b = get_balance();
	GAP();
	set_balance(b + n);
#endif
}
static void *first(void *arg)
{
	deposit(10);
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	deposit(20);
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
