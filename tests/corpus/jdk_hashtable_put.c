/* putIfAbsent of two synchronized calls (Shacham et al., OOPSLA 2011: the most common misuse of concurrent maps).
 * corpus: finds put_if_absent -- check-then-act, lost update */
#include "corpus.h"
static pthread_mutex_t lock = MUTEX;
static int keys[8], used;
static bool contains(int k)
{
	LOCK(lock);
	bool any = false;
	for (int i = 0; i < used; i++)
		any |= keys[i] == k;
	UNLOCK(lock);
	return any;
}
static void put(int k)
{
	LOCK(lock);
	keys[used & 7] = k;
	used++;
	UNLOCK(lock);
}
static void put_if_absent(int k)
{
#ifdef FIXED
	LOCK(lock);
	bool any = false;
	for (int i = 0; i < used; i++)
		any |= keys[i] == k;
	if (!any)
		keys[used++ & 7] = k;
	UNLOCK(lock);
#else
	if (!contains(k)) {
		GAP();
		put(k);
	}
#endif
}
static void *first(void *arg)
{
	put_if_absent(5);
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	put_if_absent(5);
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
