/* An object's lock, and a global one in one place where the object's was meant.
 * corpus: finds put -- wrong lock */
#include "corpus.h"
static struct queue {
	pthread_mutex_t m;
	long length;
} *q;
static pthread_mutex_t all = MUTEX;
static void put(void)
{
	LOCK(q->m);
	q->length++;
	UNLOCK(q->m);
}
static void take(void)
{
#ifdef FIXED
	LOCK(q->m);
	q->length--;
	UNLOCK(q->m);
#else
	LOCK(all);
	q->length--;
	UNLOCK(all);
#endif
}
static void *first(void *arg)
{
	put();
	GAP();
	put();
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	take();
	INTRUDED();
	return arg;
}
int main(void)
{
	q = calloc(1, sizeof *q);
	pthread_mutex_init(&q->m, NULL);
	run_both(first, second);
	free(q);
	return 0;
}
