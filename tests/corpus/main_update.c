/* main itself updates in two sections what a thread of it changes.
 * corpus: finds main -- lost update */
#include "corpus.h"
static pthread_mutex_t m = MUTEX;
static long count;
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
	pthread_t t;
	pthread_create(&t, NULL, second, NULL);
	LOCK(m);
	long n = count;
#ifndef FIXED
	UNLOCK(m);
	GAP();
	LOCK(m);
#endif
	count = n + 1;
	UNLOCK(m);
	pthread_join(t, NULL);
	/* What other threads wrote until they were joined is no gap. */
	LOCK(m);
	count = 0;
	UNLOCK(m);
	return 0;
}
