/* MySQL bug 3596: SHOW PROCESSLIST tests proc_info, then uses it; the other thread has cleared it in between: crash.
 * corpus: finds innobase_mysql_print_thd -- torn read */
#include "corpus.h"
static pthread_mutex_t LOCK_thread = MUTEX;
static const char *proc_info = "locked";
static char shown[32];
static bool has_info(void)
{
	LOCK(LOCK_thread);
	bool any = proc_info != NULL;
	UNLOCK(LOCK_thread);
	return any;
}
static const char *info(void)
{
	LOCK(LOCK_thread);
	const char *s = proc_info;
	UNLOCK(LOCK_thread);
	return s;
}
static void innobase_mysql_print_thd(void)
{
#ifdef FIXED
	LOCK(LOCK_thread);
	const char *s = proc_info;
	if (s)
		strcpy(shown, s);
	UNLOCK(LOCK_thread);
#else
	if (has_info()) {
		GAP();
		const char *s = info();
		strcpy(shown, s ? s : "(null)");
	}
#endif
}
static void thd_proc_info(const char *s)
{
	LOCK(LOCK_thread);
	proc_info = s;
	UNLOCK(LOCK_thread);
}
static void *first(void *arg)
{
	innobase_mysql_print_thd();
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	thd_proc_info(NULL);
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
