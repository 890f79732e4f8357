/* MySQL bug 791: MYSQL_LOG::new_file closes the log and opens it again; a thread that writes in between finds it
 * closed, and its statement is not logged.
 * corpus: finds new_file -- intermediate state seen */
#include "corpus.h"
enum { LOG_OPENED = 1, LOG_CLOSED };
static pthread_mutex_t LOCK_log = MUTEX;
static int log_type = LOG_OPENED, written;
static void log_close(void)
{
	LOCK(LOCK_log);
	log_type = LOG_CLOSED;
	UNLOCK(LOCK_log);
}
static void log_open(void)
{
	LOCK(LOCK_log);
	log_type = LOG_OPENED;
	UNLOCK(LOCK_log);
}
static void new_file(void)
{
#ifdef FIXED
	LOCK(LOCK_log);
	log_type = LOG_CLOSED;
	log_type = LOG_OPENED;
	UNLOCK(LOCK_log);
#else
	log_close();
	GAP();
	log_open();
#endif
}
static void log_write(void)
{
	LOCK(LOCK_log);
	if (log_type != LOG_CLOSED)
		written++;
	UNLOCK(LOCK_log);
}
static void *first(void *arg)
{
	new_file();
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	log_write();
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
