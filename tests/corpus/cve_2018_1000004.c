/* CVE-2018-1000004 (Linux ALSA sequencer): a write initialises the client's pool when it is not yet; ioctl resizes
 * it at the same time: the pool of one of them is used after the other has replaced it.
 * corpus: finds snd_seq_write -- lost update, check-then-act */
#include "corpus.h"
static pthread_mutex_t ioctl_mutex = MUTEX;
static int *pool_ptr;
static int cells[2];
static bool pool_ready(void)
{
	LOCK(ioctl_mutex);
	bool ready = pool_ptr != NULL;
	UNLOCK(ioctl_mutex);
	return ready;
}
static void pool_init(int *p)
{
	LOCK(ioctl_mutex);
	pool_ptr = p;
	UNLOCK(ioctl_mutex);
}
static void snd_seq_write(void)
{
#ifdef FIXED
	LOCK(ioctl_mutex);
	if (!pool_ptr)
		pool_ptr = &cells[0];
	UNLOCK(ioctl_mutex);
#else
	if (!pool_ready()) {
		GAP();
		pool_init(&cells[0]);
	}
#endif
}
static void snd_seq_ioctl_set_client_pool(void)
{
	LOCK(ioctl_mutex);
	pool_ptr = &cells[1];
	UNLOCK(ioctl_mutex);
}
static void *first(void *arg)
{
	snd_seq_write();
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	snd_seq_ioctl_set_client_pool();
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
