/* CVE-2017-6346 (Linux packet sockets): fanout_add sees that the socket has no fanout group, makes one, and sets it:
 * of two at the same time one group is lost, and freed while it is used.
 * corpus: finds fanout_add -- lost update, check-then-act */
#include "corpus.h"
static pthread_mutex_t bind_lock = MUTEX;
static void *po_fanout;
static char groups[2];
static bool has_fanout(void)
{
	LOCK(bind_lock);
	bool has = po_fanout != NULL;
	UNLOCK(bind_lock);
	return has;
}
static void link_fanout(void *match)
{
	LOCK(bind_lock);
	po_fanout = match;
	UNLOCK(bind_lock);
}
static int fanout_add(void *match)
{
#ifdef FIXED
	LOCK(bind_lock);
	bool mine = !po_fanout;
	if (mine)
		po_fanout = match;
	UNLOCK(bind_lock);
	return mine ? 0 : -1;
#else
	if (has_fanout())
		return -1;
	GAP();
	link_fanout(match);
	return 0;
#endif
}
static void *first(void *arg)
{
	fanout_add(&groups[0]);
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	fanout_add(&groups[1]);
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
