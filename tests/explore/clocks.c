/* explore: find assertion
 * explore: says the older
 * explore: watched
 * Every way to sleep and to read a clock: time that a thread has slept has passed, on each clock. The bug: sleeping longer is taken
 * for an order. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static atomic_int first;

static long long ns(struct timespec t)
{
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static long long now(clockid_t clock)
{
	struct timespec t;
	assert(!clock_gettime(clock, &t));
	return ns(t);
}

static void sleeps(void)
{
	struct timespec ms = { 0, 1000000 }, at, r;
	long long began = now(CLOCK_MONOTONIC);
	assert(!nanosleep(&ms, NULL) && now(CLOCK_MONOTONIC) >= began + 1000000);
	assert(!clock_nanosleep(CLOCK_MONOTONIC, 0, &ms, NULL) && now(CLOCK_MONOTONIC) >= began + 2000000);
	assert(!usleep(1000) && !thrd_sleep(&ms, NULL) && now(CLOCK_MONOTONIC) >= began + 4000000);
	assert(sleep(0) == 0);
	assert(!clock_gettime(CLOCK_REALTIME, &at));
	at.tv_nsec += 1000000;
	at.tv_sec += at.tv_nsec / 1000000000;
	at.tv_nsec %= 1000000000;
	assert(!clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, &r) && now(CLOCK_REALTIME) >= ns(at));
	assert(!clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, &r)); /* long ago by now */
}

static void clocks(void)
{
	struct timeval tv;
	struct timespec ts;
	time_t t, u = time(&t);
	assert(u == t && u > 1600000000);
	assert(!gettimeofday(&tv, NULL) && tv.tv_sec >= t && tv.tv_usec >= 0 && tv.tv_usec < 1000000);
	assert(timespec_get(&ts, TIME_UTC) == TIME_UTC && ts.tv_sec >= tv.tv_sec);
	assert(now(CLOCK_REALTIME) >= ns(ts) && clock() >= 0 && sched_getcpu() >= 0);
	thrd_yield();
}

static void *older(void *arg)
{
	int none = 0;
	usleep(10);
	atomic_compare_exchange_strong(&first, &none, 1);
	return arg;
}

static void *younger(void *arg)
{
	int none = 0;
	sleep(*(unsigned *)arg);
	atomic_compare_exchange_strong(&first, &none, 2);
	return arg;
}

int main(void)
{
	pthread_t t, u;
	unsigned seconds = 0;
	sleeps();
	clocks();
	pthread_create(&t, NULL, older, NULL);
#ifdef FIXED
	pthread_join(t, NULL);
#else
	seconds = 3600;
#endif
	pthread_create(&u, NULL, younger, &seconds);
#ifndef FIXED
	pthread_join(t, NULL);
#endif
	pthread_join(u, NULL);
	assert(first == 1 && "the older");
	return 0;
}
