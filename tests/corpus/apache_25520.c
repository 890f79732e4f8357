/* Apache bug 25520, buffered log writer: the room is looked at, the entry copied behind the end that was seen; of
 * two threads one overwrites the other.
 * corpus: finds ap_buffered_log_writer -- lost update */
#include "corpus.h"
static pthread_mutex_t lock = MUTEX;
static char outbuf[256];
static int outcnt;
static int end_of_log(void)
{
	LOCK(lock);
	int n = outcnt;
	UNLOCK(lock);
	return n;
}
static void append(int at, const char *s)
{
	int len = (int)strlen(s);
	LOCK(lock);
	memcpy(outbuf + at, s, (size_t)len);
	outcnt = at + len;
	UNLOCK(lock);
}
static void ap_buffered_log_writer(const char *s)
{
#ifdef FIXED
	LOCK(lock);
	memcpy(outbuf + outcnt, s, strlen(s));
	outcnt += (int)strlen(s);
	UNLOCK(lock);
#else
	int at_end = end_of_log();
	GAP();
	append(at_end, s);
#endif
}
static void *first(void *arg)
{
	ap_buffered_log_writer("GET /a");
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	ap_buffered_log_writer("GET /b");
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
