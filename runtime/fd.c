/*
 * fd: descriptors hand things over too.
 *
 * The kernel gives a number out again only after it was closed: what the one
 * who closed it did with its table entry happened before the next owner's use.
 * What is written to a pipe, a pair of sockets or an eventfd happened before it
 * is read, and what epoll_ctl was given before epoll_wait returns it.
 *
 * Objects are places in an array that is never accessed. Numbers of RT_FDS and
 * more are passed through. Nothing is taken back when a number is closed (a
 * child of vfork closes in our memory); who makes a descriptor says what it is.
 */
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "rt.h"

enum { RT_FDS = 1 << 16, SPACING = 64 };

/* Of a number, and of what flows through it. */
static char numbers[(size_t)RT_FDS * SPACING], flows[(size_t)RT_FDS * SPACING];
static uint32_t flow_of[RT_FDS]; /* 0: nothing that we follow */
static uint32_t nflows;

static bool known(int fd)
{
	return fd >= 0 && fd < RT_FDS;
}

static const void *flow(int fd)
{
	uint32_t f = known(fd) ? __atomic_load_n(&flow_of[fd], __ATOMIC_RELAXED) : 0;
	return f ? flows + (size_t)f * SPACING : NULL;
}

static uint32_t new_flow(void)
{
	return 1 + __atomic_fetch_add(&nflows, 1, __ATOMIC_RELAXED) % (RT_FDS - 1);
}

/* A number comes back from the kernel. */
static int made(int fd, uint32_t what)
{
	if (!known(fd))
		return fd;
	__atomic_store_n(&flow_of[fd], what, __ATOMIC_RELAXED);
	rt_sync_acquire(numbers + (size_t)fd * SPACING);
	return fd;
}

static void going(int fd)
{
	if (known(fd))
		rt_sync_release(numbers + (size_t)fd * SPACING);
}

static int pair(int r, const int fd[2])
{
	if (r)
		return r;
	uint32_t f = new_flow();
	made(fd[0], f);
	made(fd[1], f);
	return 0;
}

static void before_write(int fd)
{
	const void *f = flow(fd);
	if (f)
		rt_sync_release(f);
}

static ssize_t after_read(int fd, ssize_t n)
{
	const void *f = n >= 0 ? flow(fd) : NULL;
	if (f)
		rt_sync_acquire(f);
	return n;
}

/* ---- numbers ---- */

EXPORT int close(int fd)
{
	going(fd);
	return REAL(close)(fd);
}

#define MODE                                                             \
	va_list ap;                                                      \
	va_start(ap, flags);                                             \
	mode_t mode = __OPEN_NEEDS_MODE(flags) ? va_arg(ap, mode_t) : 0; \
	va_end(ap)

EXPORT int open(const char *path, int flags, ...)
{
	MODE;
	return made(REAL(open)(path, flags, mode), 0);
}

EXPORT int open64(const char *path, int flags, ...)
{
	MODE;
	return made(REAL(open64)(path, flags, mode), 0);
}

EXPORT int openat(int at, const char *path, int flags, ...)
{
	MODE;
	return made(REAL(openat)(at, path, flags, mode), 0);
}

EXPORT int openat64(int at, const char *path, int flags, ...)
{
	MODE;
	return made(REAL(openat64)(at, path, flags, mode), 0);
}

EXPORT int socket(int domain, int type, int protocol)
{
	return made(REAL(socket)(domain, type, protocol), 0);
}

EXPORT int accept(int fd, struct sockaddr *restrict addr, socklen_t *restrict len)
{
	return made(REAL(accept)(fd, addr, len), 0);
}

EXPORT int accept4(int fd, struct sockaddr *restrict addr, socklen_t *restrict len, int flags)
{
	return made(REAL(accept4)(fd, addr, len, flags), 0);
}

static uint32_t same_as(int fd)
{
	return known(fd) ? __atomic_load_n(&flow_of[fd], __ATOMIC_RELAXED) : 0;
}

EXPORT int dup(int fd)
{
	return made(REAL(dup)(fd), same_as(fd));
}

EXPORT int dup2(int fd, int to)
{
	if (fd != to)
		going(to);
	return made(REAL(dup2)(fd, to), same_as(fd));
}

EXPORT int dup3(int fd, int to, int flags)
{
	going(to);
	return made(REAL(dup3)(fd, to, flags), same_as(fd));
}

EXPORT int pipe(int fd[2])
{
	return pair(REAL(pipe)(fd), fd);
}

EXPORT int pipe2(int fd[2], int flags)
{
	return pair(REAL(pipe2)(fd, flags), fd);
}

EXPORT int socketpair(int domain, int type, int protocol, int fd[2])
{
	return pair(REAL(socketpair)(domain, type, protocol, fd), fd);
}

EXPORT int eventfd(unsigned value, int flags)
{
	return made(REAL(eventfd)(value, flags), new_flow());
}

EXPORT int epoll_create(int size)
{
	return made(REAL(epoll_create)(size), new_flow());
}

EXPORT int epoll_create1(int flags)
{
	return made(REAL(epoll_create1)(flags), new_flow());
}

/* ---- what flows ---- */

EXPORT ssize_t read(int fd, void *p, size_t n)
{
	return after_read(fd, REAL(read)(fd, p, n));
}

EXPORT ssize_t readv(int fd, const struct iovec *v, int n)
{
	return after_read(fd, REAL(readv)(fd, v, n));
}

EXPORT ssize_t recv(int fd, void *p, size_t n, int flags)
{
	return after_read(fd, REAL(recv)(fd, p, n, flags));
}

EXPORT ssize_t recvfrom(int fd, void *restrict p, size_t n, int flags, struct sockaddr *restrict from, socklen_t *restrict len)
{
	return after_read(fd, REAL(recvfrom)(fd, p, n, flags, from, len));
}

EXPORT ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	return after_read(fd, REAL(recvmsg)(fd, m, flags));
}

EXPORT int eventfd_read(int fd, eventfd_t *value)
{
	return (int)after_read(fd, REAL(eventfd_read)(fd, value));
}

EXPORT ssize_t write(int fd, const void *p, size_t n)
{
	before_write(fd);
	return REAL(write)(fd, p, n);
}

EXPORT ssize_t writev(int fd, const struct iovec *v, int n)
{
	before_write(fd);
	return REAL(writev)(fd, v, n);
}

EXPORT ssize_t send(int fd, const void *p, size_t n, int flags)
{
	before_write(fd);
	return REAL(send)(fd, p, n, flags);
}

EXPORT ssize_t sendto(int fd, const void *p, size_t n, int flags, const struct sockaddr *to, socklen_t len)
{
	before_write(fd);
	return REAL(sendto)(fd, p, n, flags, to, len);
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	before_write(fd);
	return REAL(sendmsg)(fd, m, flags);
}

EXPORT int eventfd_write(int fd, eventfd_t value)
{
	before_write(fd);
	return REAL(eventfd_write)(fd, value);
}

EXPORT int epoll_ctl(int ep, int op, int fd, struct epoll_event *e)
{
	before_write(ep);
	return REAL(epoll_ctl)(ep, op, fd, e);
}

EXPORT int epoll_wait(int ep, struct epoll_event *e, int max, int ms)
{
	return (int)after_read(ep, REAL(epoll_wait)(ep, e, max, ms));
}

EXPORT int epoll_pwait(int ep, struct epoll_event *e, int max, int ms, const sigset_t *mask)
{
	return (int)after_read(ep, REAL(epoll_pwait)(ep, e, max, ms, mask));
}
