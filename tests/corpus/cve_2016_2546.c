/* CVE-2016-2546 (ALSA timer): the instance is found open in one section and started in the next; close comes in
 * between.
 * corpus: finds snd_timer_user_start -- torn read, stale value, check-then-act */
#include "corpus.h"
static pthread_mutex_t register_mutex = MUTEX;
static int timeri = 9;
static volatile int started;
static int get_timeri(void)
{
	LOCK(register_mutex);
	int t = timeri;
	UNLOCK(register_mutex);
	return t;
}
static void start(int t)
{
	LOCK(register_mutex);
	started = t;
	UNLOCK(register_mutex);
}
static void snd_timer_user_start(void)
{
#ifdef FIXED
	LOCK(register_mutex);
	if (timeri)
		started = timeri;
	UNLOCK(register_mutex);
#else
	int t = get_timeri();
	GAP();
	if (t)
		start(t);
#endif
}
static void snd_timer_close(void)
{
	LOCK(register_mutex);
	timeri = 0;
	started = 0;
	UNLOCK(register_mutex);
}
static void *first(void *arg)
{
	snd_timer_user_start();
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	snd_timer_close();
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
