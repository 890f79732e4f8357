/* explore: find assertion
 * explore: says MSG_DONTWAIT
 * explore: watched
 * Messages over a socket, and epoll: each run in a process of its own, from the same beginning. The bug: between the
 * look whether a message is there and its receipt another thread takes it. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static int early, pair[2];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void before_main(void)
{
	early = open("/proc/self/exe", O_RDONLY);
}

static void events(void)
{
	char head[4];
	uint64_t n = 3;
	int e = eventfd(0, EFD_NONBLOCK), ep = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = 5 };
	assert(read(early, head, 4) == 4 && head[1] == 'E'); /* the offset is that of the first run */
	assert(e >= 0 && ep >= 0 && !epoll_ctl(ep, EPOLL_CTL_ADD, e, &ev) && epoll_wait(ep, &ev, 1, 0) == 0);
	assert(write(e, &n, sizeof n) == sizeof n && epoll_wait(ep, &ev, 1, 0) == 1 && ev.data.u64 == 5);
	assert(!close(ep) && !close(e));
}

static void *receives(void *arg)
{
	char a = 0;
	struct iovec v = { &a, 1 };
	struct msghdr msg = { .msg_iov = &v, .msg_iovlen = 1 };
	pthread_mutex_lock(&m);
	int there = recv(pair[1], &a, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
#ifndef FIXED
	pthread_mutex_unlock(&m);
	pthread_mutex_lock(&m);
#endif
	if (there)
		assert(recvmsg(pair[1], &msg, MSG_DONTWAIT) == 1 && a == 'x');
	pthread_mutex_unlock(&m);
	return arg;
}

int main(void)
{
	pthread_t t, u;
	struct iovec v = { "x", 1 };
	struct msghdr msg = { .msg_iov = &v, .msg_iovlen = 1 };
	events();
	assert(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair));
	assert(send(pair[1], "y", 1, 0) == 1 && recvfrom(pair[0], &(char){ 0 }, 1, 0, NULL, NULL) == 1);
	assert(sendmsg(pair[0], &msg, 0) == 1);
	pthread_create(&t, NULL, receives, NULL);
	pthread_create(&u, NULL, receives, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	return 0;
}
