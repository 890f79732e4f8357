/* Mozilla bug 79054 (nsSocketTransport): the state is read, and set by what was read in another section; what a
 * thread set in between is lost.
 * corpus: finds nsSocketTransport_SetState -- lost update */
#include "corpus.h"
static pthread_mutex_t mMonitor = MUTEX;
static int mFlags;
static int get_flags(void)
{
	LOCK(mMonitor);
	int f = mFlags;
	UNLOCK(mMonitor);
	return f;
}
static void set_flags(int f)
{
	LOCK(mMonitor);
	mFlags = f;
	UNLOCK(mMonitor);
}
static void nsSocketTransport_SetState(int bit)
{
#ifdef FIXED
	LOCK(mMonitor);
	mFlags |= bit;
	UNLOCK(mMonitor);
#else
	int f = get_flags();
	GAP();
	set_flags(f | bit);
#endif
}
static void *first(void *arg)
{
	nsSocketTransport_SetState(1);
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	nsSocketTransport_SetState(2);
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
