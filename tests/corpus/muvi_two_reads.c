/* A pair that is written in one section is read in two (MUVI, inconsistent reads): the pieces do not fit.
 * corpus: finds show_progress -- torn read */
#include "corpus.h"
static pthread_mutex_t lock = MUTEX;
static volatile long done_bytes, total_bytes = 100;
static volatile long shown;
static long get_done(void)
{
	LOCK(lock);
	long n = done_bytes;
	UNLOCK(lock);
	return n;
}
static long get_total(void)
{
	LOCK(lock);
	long n = total_bytes;
	UNLOCK(lock);
	return n;
}
static void show_progress(void)
{
#ifdef FIXED
	LOCK(lock);
	long n = done_bytes, of = total_bytes;
	UNLOCK(lock);
	shown = n * 100 / (of + 1);
#else
	long n = get_done();
	GAP();
	shown = n * 100 / (get_total() + 1);
#endif
}
static void next_file(long size)
{
	LOCK(lock);
	done_bytes = 0;
	total_bytes = size;
	UNLOCK(lock);
}
static void *first(void *arg)
{
	show_progress();
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	next_file(10);
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
