/* Bank transfer: the auditor sees the money of neither account.
 * corpus: finds transfer -- intermediate state seen */
#include "corpus.h"
static pthread_mutex_t m = MUTEX;
static long checking = 100, savings;
static volatile long audited;
static void withdraw(long n)
{
	LOCK(m);
	checking -= n;
	UNLOCK(m);
}
static void pay_in(long n)
{
	LOCK(m);
	savings += n;
	UNLOCK(m);
}
static void transfer(long n)
{
#ifdef FIXED
	LOCK(m);
	checking -= n;
	savings += n;
	UNLOCK(m);
#else
	withdraw(n);
	GAP();
	pay_in(n);
#endif
}
static void audit(void)
{
	LOCK(m);
	audited = checking + savings;
	UNLOCK(m);
}
static void *first(void *arg)
{
	transfer(30);
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	audit();
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
