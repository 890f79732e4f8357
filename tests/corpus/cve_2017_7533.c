/* CVE-2017-7533 (Linux inotify and rename): the event is allocated for the length of the name, then the name is
 * copied; a rename in between makes it longer than the room.
 * corpus: finds inotify_handle_event -- torn read */
#include "corpus.h"
static pthread_mutex_t d_lock = MUTEX;
static volatile char d_name[32] = "short";
static char event[64];
static size_t name_length(void)
{
	size_t n = 0;
	LOCK(d_lock);
	while (n < 31 && d_name[n])
		n++;
	UNLOCK(d_lock);
	return n;
}
static void copy_name(char *to, size_t max)
{
	LOCK(d_lock);
	for (size_t i = 0; i < max; i++)
		to[i] = d_name[i];
	UNLOCK(d_lock);
}
static void inotify_handle_event(void)
{
#ifdef FIXED
	LOCK(d_lock);
	for (size_t i = 0; i < 31 && d_name[i]; i++)
		event[i] = d_name[i];
	UNLOCK(d_lock);
#else
	size_t n = name_length();
	GAP();
	copy_name(event, n);
#endif
}
static void vfs_rename(void)
{
	LOCK(d_lock);
	for (int i = 0; i < 31; i++)
		d_name[i] = 'x';
	UNLOCK(d_lock);
}
static void *first(void *arg)
{
	inotify_handle_event();
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	vfs_rename();
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
