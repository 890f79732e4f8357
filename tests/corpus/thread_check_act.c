/* A withdrawal in the first function of a thread: the balance is checked in one section and reduced in another.
 * corpus: finds first -- check-then-act */
#include "corpus.h"
static pthread_mutex_t m = MUTEX;
static long balance = 10;
static void withdraw_all(void)
{
	LOCK(m);
	if (balance >= 10)
		balance -= 10;
	UNLOCK(m);
}
static void *first(void *arg)
{
#ifdef FIXED
	withdraw_all();
#else
	LOCK(m);
	bool enough = balance >= 10;
	UNLOCK(m);
	GAP();
	if (enough) {
		LOCK(m);
		balance -= 10;
		UNLOCK(m);
	}
#endif
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	withdraw_all();
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
