/* CVE-2014-0196 (Linux n_tty): the room in the buffer is looked at, the bytes are copied later; two writers
 * overrun it.
 * corpus: finds tty_insert_flip_string -- lost update, check-then-act, stale value */
#include "corpus.h"
static pthread_mutex_t buf_lock = MUTEX;
static char flip[64];
static int used;
static int tty_buffer_request_room(int n)
{
	LOCK(buf_lock);
	int at_byte = used + n <= 64 ? used : -1;
	UNLOCK(buf_lock);
	return at_byte;
}
static void copy_in(int at_byte, const char *s, int n)
{
	LOCK(buf_lock);
	memcpy(flip + at_byte, s, (size_t)n);
	used += n;
	UNLOCK(buf_lock);
}
static void tty_insert_flip_string(const char *s)
{
#ifdef FIXED
	int n = (int)strlen(s);
	LOCK(buf_lock);
	if (used + n <= 64) {
		memcpy(flip + used, s, (size_t)n);
		used += n;
	}
	UNLOCK(buf_lock);
#else
	int n = (int)strlen(s), at_byte = tty_buffer_request_room(n);
	GAP();
	if (at_byte >= 0)
		copy_in(at_byte, s, n);
#endif
}
static void *first(void *arg)
{
	tty_insert_flip_string("first");
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	tty_insert_flip_string("second");
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
