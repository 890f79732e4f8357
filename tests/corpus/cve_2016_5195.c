/* CVE-2016-5195 (Dirty COW): the page is made writable by a copy in one section and written through in the next;
 * madvise has dropped the copy.
 * corpus: finds faultin_and_write -- stale value, torn read */
#include "corpus.h"
static pthread_mutex_t mmap_lock = MUTEX;
static int private_copy;
static volatile int page_written;
static void faultin_page(void)
{
	LOCK(mmap_lock);
	private_copy = 1;
	UNLOCK(mmap_lock);
}
static int follow_page(void)
{
	LOCK(mmap_lock);
	int c = private_copy;
	UNLOCK(mmap_lock);
	return c;
}
static void faultin_and_write(void)
{
#ifdef FIXED
	LOCK(mmap_lock);
	private_copy = 1;
	page_written = private_copy;
	UNLOCK(mmap_lock);
#else
	faultin_page();
	GAP();
	page_written = follow_page();
#endif
}
static void madvise_dontneed(void)
{
	LOCK(mmap_lock);
	private_copy = 0;
	UNLOCK(mmap_lock);
}
static void *first(void *arg)
{
	faultin_and_write();
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	madvise_dontneed();
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
