/* explore: find assertion
 * explore: says late
 * explore: watched
 * Waits with a limit, by every call there is: something comes in time, after the time, or when the time is over and the last look is
 * still to come. The bug: the last is taken to be impossible. */
#define _GNU_SOURCE
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

static int fd[2];

static long milliseconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int by_select(int ms)
{
	struct timeval limit = { ms / 1000, ms % 1000 * 1000 };
	fd_set set;
	FD_ZERO(&set);
	FD_SET(fd[0], &set);
	int n = select(fd[0] + 1, &set, NULL, NULL, &limit);
	assert(n >= 0 && n == !!FD_ISSET(fd[0], &set));
	return n;
}

static int by_pselect(int ms)
{
	struct timespec limit = { ms / 1000, ms % 1000 * 1000000 };
	fd_set set;
	FD_ZERO(&set);
	FD_SET(fd[0], &set);
	return pselect(fd[0] + 1, &set, NULL, NULL, &limit, NULL);
}

static int by_ppoll(int ms)
{
	struct timespec limit = { ms / 1000, ms % 1000 * 1000000 };
	struct pollfd p = { fd[0], POLLIN, 0 };
	return ppoll(&p, 1, &limit, NULL);
}

static int by_epoll(int ms)
{
	struct epoll_event e = { .events = EPOLLIN };
	int ep = epoll_create1(0);
	assert(ep >= 0 && !epoll_ctl(ep, EPOLL_CTL_ADD, fd[0], &e));
	int n = epoll_wait(ep, &e, 1, ms);
	close(ep);
	return n;
}

static void *writes(void *arg)
{
	assert(write(fd[1], "x", 1) == 1);
	return arg;
}

int main(void)
{
	pthread_t t;
	char c;
	assert(!pipe(fd));
	assert(by_select(1) == 0 && by_pselect(1) == 0 && by_ppoll(1) == 0 && by_epoll(1) == 0);
	pthread_create(&t, NULL, writes, NULL);
	struct pollfd p = { fd[0], POLLIN, 0 };
	long before = milliseconds();
	int n = poll(&p, 1, 50), late = milliseconds() >= before + 50;
#ifdef FIXED
	assert(n || late);
#else
	assert(!n == late);
#endif
	pthread_join(t, NULL);
	assert(by_select(-1000 + 1000) == 1 && by_pselect(1) == 1 && by_ppoll(1) == 1 && by_epoll(1) == 1);
	assert(read(fd[0], &c, 1) == 1 && by_select(0) == 0);
	return 0;
}
