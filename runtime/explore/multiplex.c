/*
 * multiplex: poll, select and epoll: calls that wait for any of several descriptors.
 *
 * The kernel is asked without waiting. A call that finds nothing and has no limit yields until it finds something; one with a limit
 * yields, looks, sleeps for its time and looks once more, so that both happen: something comes in time, and the time is over.
 * A look changes nothing, except that of epoll, which forgets what it reported (EPOLLET, EPOLLONESHOT): that is a write for the scheduler.
 */
#include <poll.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "runtime/explore/explorer.h"

enum { SETS = 3, SET_WORDS = 16, SET_BITS = SET_WORDS * 64 };

struct multiplex {
	long nr;
	const long *a;
	uintptr_t pc;
	bool epoll, any; /* there is a descriptor to wait for */
	bool forever;
	uint64_t limit;                  /* ns */
	struct timespec *left;           /* where the kernel writes what is left of the limit; NULL: nowhere */
	uint64_t given[SETS][SET_WORDS]; /* select: its sets, which a look overwrites */
};

static void limit_ms(struct multiplex *m, long ms)
{
	m->forever = (int)ms < 0;
	m->limit = m->forever ? 0 : (uint64_t)ms * 1000000;
}

/* Of a struct timeval, if `micro`. */
static void limit_at(struct multiplex *m, long at, bool micro)
{
	const struct timespec *t = (const struct timespec *)at;
	m->forever = !t;
	if (t)
		m->limit = (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec * (micro ? 1000 : 1);
}

static unsigned set_bytes(const struct multiplex *m)
{
	return ((unsigned)m->a[0] + 63) / 64 * 8;
}

static bool understood(struct multiplex *m)
{
	const long *a = m->a;
	switch (m->nr) {
	case SYS_poll:
		limit_ms(m, a[2]);
		break;
	case SYS_ppoll:
		limit_at(m, a[2], false);
		m->left = (struct timespec *)a[2];
		break;
	case SYS_select:
	case SYS_pselect6:
		limit_at(m, a[4], m->nr == SYS_select);
		m->left = (struct timespec *)a[4];
		m->any = a[0] > 0;
		if (a[0] < 0 || a[0] > SET_BITS)
			return false;
		for (unsigned i = 0; i < SETS; i++)
			if (a[1 + i])
				rt_copy(m->given[i], (const void *)a[1 + i], set_bytes(m));
		return true;
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
		limit_ms(m, a[3]);
		m->epoll = m->any = true;
		return true;
	case SYS_epoll_pwait2:
		limit_at(m, a[3], false);
		m->epoll = m->any = true;
		return true;
	default:
		return false;
	}
	m->any = a[1] > 0; /* poll, ppoll */
	return true;
}

/* The call, without waiting. What the kernel writes to has been written to before: protected pages are an error for it. */
static long look(const struct multiplex *m)
{
	const long *a = m->a;
	if (m->epoll) {
		struct pollfd p = { (int)a[0], POLLIN, 0 };
		if (x_sys(SYS_poll, (long)&p, 1, 0, 0, 0, 0) == 0)
			return 0;
		if (!X.alone)
			x_point(SCHED_RMW, NULL, X_IO, 0, 8, 0, m->pc);
		x_snapshot_touch((uintptr_t)a[1], a[2] > 0 ? (size_t)a[2] * sizeof(struct epoll_event) : 1);
		return x_sys(SYS_epoll_wait, a[0], a[1], a[2], 0, 0, 0);
	}
	if (m->nr == SYS_poll || m->nr == SYS_ppoll) {
		x_snapshot_touch((uintptr_t)a[0], (size_t)a[1] * sizeof(struct pollfd));
		return x_sys(SYS_poll, a[0], a[1], 0, 0, 0, 0);
	}
	struct timeval none = { 0, 0 };
	for (unsigned i = 0; i < SETS; i++)
		if (a[1 + i])
			rt_copy((void *)a[1 + i], m->given[i], set_bytes(m)); /* writes to the pages, too */
	return x_sys(SYS_select, a[0], a[1], a[2], a[3], (long)&none, 0);
}

/* After its point. What is found is not 0. */
static long seen(const struct multiplex *m)
{
	long r = look(m);
	if (r) {
		x_effect();
		if (!X.alone)
			x_acquire(&x_object(X_IO, XO_ATOMIC, m->pc)->clock);
	}
	return r;
}

/* Looks, if there is a descriptor. */
static long found(const struct multiplex *m)
{
	x_cancel_point();
	if (!m->any)
		return 0;
	if (!X.alone)
		x_point(SCHED_LOAD, NULL, X_IO, 0, 8, 0, m->pc);
	return seen(m);
}

static long waits(const struct multiplex *m)
{
	const long *a = m->a;
	long r = found(m);
	if (r || (!m->forever && !m->limit))
		return r;
	while (m->forever && !r) {
		if (X.alone && X.outside)
			return x_sys(m->nr, a[0], a[1], a[2], a[3], a[4], a[5]);
		if (X.alone)
			x_fail(CONTROL_LOST_WAKEUP, "a system call waits for data that no thread is left to write");
		if (m->any) {
			x_io_wait(m->pc);
			x_cancel_point();
			r = seen(m);
		} else {
			x_point(SCHED_YIELD, NULL, 0, 0, 0, 0, m->pc); /* without descriptors: only a signal would end it */
		}
	}
	if (r || m->forever)
		return r;
	if (m->any) {
		x_point(SCHED_YIELD, NULL, 0, 0, 0, 0, m->pc);
		if ((r = found(m)))
			return r;
	}
	x_sleep(m->limit, m->pc);
	if (m->left)
		*m->left = (struct timespec){ 0, 0 };
	return found(m);
}

bool x_multiplex(long nr, const long a[6], uintptr_t pc, long *r)
{
	struct multiplex m = { .nr = nr, .a = a, .pc = pc };
	if (!understood(&m))
		return false;
	x_drain_if_tso(pc);
	*r = waits(&m);
	return true;
}
