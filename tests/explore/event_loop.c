/* explore: find lost-wakeup
 * explore: says main waits at main
 * explore: watched
 * An event loop with epoll: it takes the jobs that another thread has queued when an eventfd tells it. The bug: the flag that
 * spares further writes is cleared after the queue was emptied, so that a job that comes in between is never told. */
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int wake, ep;
static atomic_int told, queued;

static void post(void)
{
	atomic_fetch_add(&queued, 1);
	if (!atomic_exchange(&told, 1))
		assert(!eventfd_write(wake, 1));
}

static void *posts(void *arg)
{
	post();
	post();
	return arg;
}

int main(void)
{
	pthread_t t;
	struct epoll_event e[2] = { { .events = EPOLLIN | EPOLLET, .data.u32 = 7 } };
	wake = eventfd(0, EFD_NONBLOCK);
	ep = epoll_create1(EPOLL_CLOEXEC);
	assert(wake >= 0 && ep >= 0 && !epoll_ctl(ep, EPOLL_CTL_ADD, wake, &e[0]));
	assert(epoll_wait(ep, e, 2, 0) == 0 && epoll_wait(ep, e, 2, 5) == 0);
	pthread_create(&t, NULL, posts, NULL);
	for (int done = 0; done < 2;) {
		eventfd_t n;
		assert(epoll_wait(ep, e, 2, -1) == 1 && e[0].data.u32 == 7);
		eventfd_read(wake, &n);
#ifdef FIXED
		atomic_store(&told, 0);
#endif
		done += atomic_exchange(&queued, 0);
#ifndef FIXED
		atomic_store(&told, 0);
#endif
	}
	pthread_join(t, NULL);
	struct pollfd p = { wake, POLLOUT, 0 };
	assert(poll(&p, 1, -1) == 1 && p.revents == POLLOUT);
	assert(!close(ep) && !close(wake));
	return 0;
}
