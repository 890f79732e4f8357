/* The whole block is the first function of the thread, as in most small examples of lost updates.
 * corpus: finds first -- lost update */
#include "corpus.h"
static pthread_mutex_t m = MUTEX;
static long count;
static void *first(void *arg)
{
	LOCK(m);
	long n = count;
#ifdef FIXED
	count = n + 1;
	UNLOCK(m);
#else
	UNLOCK(m);
	GAP();
	LOCK(m);
	count = n + 1;
	UNLOCK(m);
#endif
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	LOCK(m);
	count++;
	UNLOCK(m);
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
