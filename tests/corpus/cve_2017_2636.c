/* CVE-2017-2636 (Linux n_hdlc): the buffer that is being sent is put back in another section than it was taken in;
 * flush_tx_queue has freed it: it is freed twice.
 * corpus: finds n_hdlc_send_frames -- lost update, stale value, check-then-act */
#include "corpus.h"
static pthread_mutex_t tx_lock = MUTEX;
static int tbuf = 5, free_list[4], nfree;
static int take_tbuf(void)
{
	LOCK(tx_lock);
	int b = tbuf;
	UNLOCK(tx_lock);
	return b;
}
static void give_back(int b)
{
	LOCK(tx_lock);
	free_list[nfree++ & 3] = b;
	tbuf = 0;
	UNLOCK(tx_lock);
}
static void n_hdlc_send_frames(void)
{
#ifdef FIXED
	LOCK(tx_lock);
	if (tbuf) {
		free_list[nfree++ & 3] = tbuf;
		tbuf = 0;
	}
	UNLOCK(tx_lock);
#else
	int b = take_tbuf();
	GAP();
	if (b)
		give_back(b);
#endif
}
static void flush_tx_queue(void)
{
	LOCK(tx_lock);
	if (tbuf)
		free_list[nfree++ & 3] = tbuf;
	tbuf = 0;
	UNLOCK(tx_lock);
}
static void *first(void *arg)
{
	n_hdlc_send_frames();
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	flush_tx_queue();
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
