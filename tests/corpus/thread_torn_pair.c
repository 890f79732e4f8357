/* The first function of a thread reads two variables, which others change in one section, in two.
 * corpus: finds first -- torn read */
#include "corpus.h"
static pthread_mutex_t m = MUTEX;
static long start, end = 10;
static volatile long length;
static void *first(void *arg)
{
#ifdef FIXED
	LOCK(m);
	length = end - start;
	UNLOCK(m);
#else
	LOCK(m);
	long from = start;
	UNLOCK(m);
	GAP();
	LOCK(m);
	length = end - from;
	UNLOCK(m);
#endif
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	LOCK(m);
	start += 100;
	end += 100;
	UNLOCK(m);
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
