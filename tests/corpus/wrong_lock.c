/* One variable, two locks: each side holds one, and they exclude nobody.
 * corpus: finds withdraw -- wrong lock */
#include "corpus.h"
static pthread_mutex_t deposits = MUTEX;
#ifdef FIXED
#define withdrawals deposits
#else
static pthread_mutex_t withdrawals = MUTEX;
#endif
static long balance = 100;
static void deposit(long n)
{
	LOCK(deposits);
	balance += n;
	UNLOCK(deposits);
}
static void withdraw(long n)
{
	LOCK(withdrawals);
	balance -= n;
	UNLOCK(withdrawals);
}
static void *first(void *arg)
{
	deposit(1);
	GAP();
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	withdraw(1);
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
