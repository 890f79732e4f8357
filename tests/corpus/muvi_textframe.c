/* Mozilla nsTextFrame (MUVI, correlated variables): offset and length of the content are a pair; one function sets
 * them in two sections, another thread sets both in one: they end up with one of each.
 * corpus: finds SetContentRange -- broken invariant, lost update, intermediate state seen */
#include "corpus.h"
static pthread_mutex_t frame = MUTEX;
static volatile long mContentOffset, mContentLength = 10;
static void set_offset(long n)
{
	LOCK(frame);
	mContentOffset = n;
	UNLOCK(frame);
}
static void set_length(long n)
{
	LOCK(frame);
	mContentLength = n;
	UNLOCK(frame);
}
static void SetContentRange(long from, long n)
{
#ifdef FIXED
	LOCK(frame);
	mContentOffset = from;
	mContentLength = n;
	UNLOCK(frame);
#else
	set_offset(from);
	GAP();
	set_length(n);
#endif
}
static void Reflow(void)
{
	LOCK(frame);
	mContentOffset = 0;
	mContentLength = 80;
	UNLOCK(frame);
}
static void *first(void *arg)
{
	SetContentRange(4, 6);
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	Reflow();
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
