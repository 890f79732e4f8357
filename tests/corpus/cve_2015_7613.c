/* CVE-2015-7613 (Linux ipc): the object is added to the table before its owner is set; another process that finds
 * it compares with an owner of zero.
 * corpus: finds newque -- intermediate state seen */
#include "corpus.h"
static pthread_mutex_t ids_lock = MUTEX;
static int table_id, perm_uid;
static volatile int allowed;
static void ipc_addid(int id)
{
	LOCK(ids_lock);
	table_id = id;
	UNLOCK(ids_lock);
}
static void set_owner(int uid)
{
	LOCK(ids_lock);
	perm_uid = uid;
	UNLOCK(ids_lock);
}
static void newque(int id, int uid)
{
#ifdef FIXED
	LOCK(ids_lock);
	perm_uid = uid;
	table_id = id;
	UNLOCK(ids_lock);
#else
	ipc_addid(id);
	GAP();
	set_owner(uid);
#endif
}
static void ipc_check_perms(int uid)
{
	LOCK(ids_lock);
	if (table_id)
		allowed = perm_uid == uid;
	UNLOCK(ids_lock);
}
static void *first(void *arg)
{
	newque(7, 1000);
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	ipc_check_perms(0);
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
