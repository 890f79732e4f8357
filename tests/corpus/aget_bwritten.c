/* aget: the bytes written are counted without a lock.
 * corpus: finds http_get -- lost update */
#include "corpus.h"
static long bwritten;
static void http_get(long n)
{
#ifdef FIXED
	__atomic_fetch_add(&bwritten, n, __ATOMIC_RELAXED);
#else
	long b = bwritten;
	GAP();
	bwritten = b + n;
#endif
}
static void *first(void *arg)
{
	http_get(10);
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	http_get(20);
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
