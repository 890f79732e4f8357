/* CVE-2017-15265 (ALSA sequencer): the port is entered in the list in one section and used in another; another
 * thread deletes it in between.
 * corpus: finds snd_seq_ioctl_create_port -- stale value, torn read */
#include "corpus.h"
static pthread_mutex_t ports_mutex = MUTEX;
static int port_used[4];
static volatile int name_of_port;
static int snd_seq_create_port(void)
{
	LOCK(ports_mutex);
	port_used[1] = 1;
	UNLOCK(ports_mutex);
	return 1;
}
static int port_name(int p)
{
	LOCK(ports_mutex);
	int n = port_used[p];
	UNLOCK(ports_mutex);
	return n;
}
static void snd_seq_ioctl_create_port(void)
{
#ifdef FIXED
	LOCK(ports_mutex);
	port_used[1] = 1;
	name_of_port = port_used[1];
	UNLOCK(ports_mutex);
#else
	int p = snd_seq_create_port();
	GAP();
	name_of_port = port_name(p);
#endif
}
static void snd_seq_delete_port(int p)
{
	LOCK(ports_mutex);
	port_used[p] = 0;
	UNLOCK(ports_mutex);
}
static void *first(void *arg)
{
	snd_seq_ioctl_create_port();
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	snd_seq_delete_port(1);
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
