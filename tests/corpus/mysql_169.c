/* MySQL bug 169: a DELETE removes the rows, releases the table, and writes the binary log later; an INSERT in between
 * is logged before it, and the replica deletes it.
 * corpus: finds generate_table -- intermediate state seen, broken invariant */
#include "corpus.h"
static pthread_mutex_t LOCK_open = MUTEX;
static volatile int rows = 1;
static int log_position, log_entry[8];
static void remove_rows(void)
{
	LOCK(LOCK_open);
	rows = 0;
	UNLOCK(LOCK_open);
}
static void binlog_write(int what)
{
	LOCK(LOCK_open);
	log_entry[log_position++ & 7] = what;
	UNLOCK(LOCK_open);
}
static void generate_table(void)
{
#ifdef FIXED
	LOCK(LOCK_open);
	rows = 0;
	log_entry[log_position++ & 7] = 1;
	UNLOCK(LOCK_open);
#else
	remove_rows();
	GAP();
	binlog_write(1);
#endif
}
static void insert(void)
{
	LOCK(LOCK_open);
	rows = 2;
	log_entry[log_position++ & 7] = 2;
	UNLOCK(LOCK_open);
}
static void *first(void *arg)
{
	generate_table();
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	insert();
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
