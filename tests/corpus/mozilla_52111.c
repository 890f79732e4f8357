/* Mozilla bug 52111 (nsFileTransport): the transport is found open, then read from in another section; Cancel has
 * closed it.
 * corpus: finds nsFileTransport_Process -- torn read */
#include "corpus.h"
static pthread_mutex_t mLock = MUTEX;
static int mStatus = 1;
static volatile int result;
static int status(void)
{
	LOCK(mLock);
	int s = mStatus;
	UNLOCK(mLock);
	return s;
}
static void nsFileTransport_Process(void)
{
#ifdef FIXED
	LOCK(mLock);
	int s = mStatus;
	result = s - mStatus;
	UNLOCK(mLock);
#else
	int before = status();
	GAP();
	result = before - status();
#endif
}
static void nsFileTransport_Cancel(void)
{
	LOCK(mLock);
	mStatus = 0;
	UNLOCK(mLock);
}
static void *first(void *arg)
{
	nsFileTransport_Process();
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	nsFileTransport_Cancel();
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
