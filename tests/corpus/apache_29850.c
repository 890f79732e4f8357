/* Apache bug 29850 (util_ldap cache): an entry is fetched in one section and its fields compared in another, after
 * it was replaced.
 * corpus: finds util_ldap_cache_compare -- torn read, stale value */
#include "corpus.h"
static pthread_mutex_t cache_lock = MUTEX;
static int entry_user = 1, entry_password = 1;
static volatile int granted;
static int fetch_user(void)
{
	LOCK(cache_lock);
	int u = entry_user;
	UNLOCK(cache_lock);
	return u;
}
static int fetch_password(void)
{
	LOCK(cache_lock);
	int p = entry_password;
	UNLOCK(cache_lock);
	return p;
}
static void util_ldap_cache_compare(int user, int password)
{
#ifdef FIXED
	LOCK(cache_lock);
	granted = entry_user == user && entry_password == password;
	UNLOCK(cache_lock);
#else
	int u = fetch_user();
	GAP();
	granted = u == user && fetch_password() == password;
#endif
}
static void util_ald_cache_insert(int user, int password)
{
	LOCK(cache_lock);
	entry_user = user;
	entry_password = password;
	UNLOCK(cache_lock);
}
static void *first(void *arg)
{
	util_ldap_cache_compare(1, 2);
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	util_ald_cache_insert(2, 2);
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
