/* Mozilla nsImapProtocol (MUVI): a message's bytes and their count are set in two sections; the reader uses both.
 * corpus: finds SetBuffer -- intermediate state seen */
#include "corpus.h"
static pthread_mutex_t monitor = MUTEX;
static const char *m_buffer = "old";
static long m_length = 3;
static char seen[16];
static void set_bytes(const char *s)
{
	LOCK(monitor);
	m_buffer = s;
	UNLOCK(monitor);
}
static void set_length(long n)
{
	LOCK(monitor);
	m_length = n;
	UNLOCK(monitor);
}
static void SetBuffer(const char *s)
{
#ifdef FIXED
	LOCK(monitor);
	m_buffer = s;
	m_length = (long)strlen(s);
	UNLOCK(monitor);
#else
	set_bytes(s);
	GAP();
	set_length((long)strlen(s));
#endif
}
static void ReadBuffer(void)
{
	LOCK(monitor);
	const char *s = m_buffer;
	long n = m_length;
	UNLOCK(monitor);
	snprintf(seen, sizeof seen, "%.*s", (int)n, s);
}
static void *first(void *arg)
{
	SetBuffer("a long one");
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	ReadBuffer();
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
