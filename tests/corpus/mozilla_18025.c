/* Mozilla bug 18025 (jsgc): the flag is tested under the lock, the collection runs after another section: two
 * collections at once.
 * corpus: finds js_GC -- check-then-act, lost update */
#include "corpus.h"
static pthread_mutex_t gcLock = MUTEX;
static int gcLevel, collections;
static int level(void)
{
	LOCK(gcLock);
	int n = gcLevel;
	UNLOCK(gcLock);
	return n;
}
static void begin(void)
{
	LOCK(gcLock);
	gcLevel++;
	collections++;
	UNLOCK(gcLock);
}
static void js_GC(void)
{
#ifdef FIXED
	LOCK(gcLock);
	if (gcLevel == 0) {
		gcLevel++;
		collections++;
	}
	UNLOCK(gcLock);
#else
	if (level() == 0) {
		GAP();
		begin();
	}
#endif
}
static void *first(void *arg)
{
	js_GC();
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	js_GC();
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
