/* A counter without any lock, in the first function of each thread.
 * corpus: finds second -- lost update */
#include "corpus.h"
static long count;
static void *first(void *arg)
{
#ifdef FIXED
	__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
#else
	long n = count;
	GAP();
	count = n + 1;
#endif
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
#ifdef FIXED
	__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
#else
	count++;
#endif
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
