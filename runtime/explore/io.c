/*
 * io: which system calls on files and descriptors are points, and of what kind.
 *
 * What one call writes another may read, through another descriptor or name, so all of them are one object to the scheduler (X_IO):
 * a call that takes data, moves an offset or changes something is a read and write of it, one that only looks is a read. A call
 * has its effect right after its point: a search that takes two points for independent may execute them in either order. A call
 * that would wait yields until it need not, and then comes to its point, where another thread may be faster.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "runtime/explore/explorer.h"

static bool ready(long fd, short events)
{
	struct pollfd p = { (int)fd, events, 0 };
	return x_sys(SYS_poll, (long)&p, 1, 0, 0, 0, 0) != 0;
}

/* Does the call return at once, whatever there is? `flags`: its own, of a socket. */
static bool never_waits(long fd, long flags)
{
	return flags & MSG_DONTWAIT || x_sys(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0) & O_NONBLOCK;
}

/* After a look that found nothing. To the scheduler this is the look that comes next, kept until something has changed (sched_await). */
void x_io_wait(uintptr_t pc)
{
	assert(!X.alone);
	struct x_thread *t = x_me();
	struct sched_range r = { X_IO, 8 };
	if (X.progress) {
		x_point(SCHED_YIELD, NULL, 0, 0, 0, 0, pc);
	} else {
		x_effect(); /* it repeats nothing that counts */
		sched_await(X.sched, X.current, &r, 1, 1);
	}
	t->waits_io = true;
	X.thread_more[X.current].waits_at = X.detail ? x_program_place(pc) : pc;
	x_point(SCHED_LOAD, NULL, X_IO, 0, 8, 0, pc);
	t->waits_io = false;
}

static void wait_ready(long fd, short events, uintptr_t pc)
{
	while (!ready(fd, events)) {
		x_cancel_point();
		if (X.alone && X.outside) {
			struct pollfd p = { (int)fd, events, 0 };
			x_sys(SYS_poll, (long)&p, 1, -1, 0, 0, 0);
			continue;
		}
		if (X.alone)
			x_fail(CONTROL_LOST_WAKEUP, "a system call waits for data that no thread is left to write");
		x_point(SCHED_LOAD, NULL, X_IO, 0, 8, 0, pc);
		while (!X.alone && !ready(fd, events)) {
			x_io_wait(pc);
			x_cancel_point();
		}
	}
}

static void io_point(uintptr_t pc)
{
	if (!X.alone)
		x_point(SCHED_RMW, NULL, X_IO, 0, 8, 0, pc);
	x_effect();
}

/* The object of a read that moves an offset or takes data away: it and its effect are one step, so two of them on one file are in
 * conflict. A file that nothing can write to while memory is restored in place is one of its own; all else is X_IO. */
static uintptr_t source_of(long fd)
{
	struct stat st;
	if (X.ctl->mode != CONTROL_SNAPSHOT || x_sys(SYS_fstat, fd, (long)&st, 0, 0, 0, 0) || !S_ISREG(st.st_mode) ||
	    (x_sys(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0) & O_ACCMODE) != O_RDONLY)
		return X_IO;
	return 2 * X_IO + mix64(st.st_ino) % 200 * X_IO; /* below 4096: no memory of the program */
}

static void takes(long fd, long flags, uintptr_t pc)
{
	bool waits = !never_waits(fd, flags);
	do {
		if (waits)
			wait_ready(fd, POLLIN, pc);
		x_point(SCHED_RMW, NULL, source_of(fd), 0, 8, 0, pc);
		x_effect();
	} while (waits && !ready(fd, POLLIN)); /* another one was faster */
}

static void gives(long fd, long flags, uintptr_t pc)
{
	bool waits = !never_waits(fd, flags);
	do {
		if (waits)
			wait_ready(fd, POLLOUT, pc);
		io_point(pc);
	} while (waits && !ready(fd, POLLOUT));
}

/* Has the call to do with what other calls change, or with the process alone? */
static bool is_quiet(long nr, const long a[6])
{
	switch (nr) {
	case SYS_fstat: /* stdio looks at its own before it first writes */
	case SYS_newfstatat:
		return a[0] >= 0 && a[0] <= 2;
	case SYS_ioctl:
		return a[0] >= 0 && a[0] <= 2;
	case SYS_madvise:
	case SYS_mprotect:
	case SYS_mincore:
	case SYS_mlock:
	case SYS_munlock:
	case SYS_prctl:
	case SYS_arch_prctl:
	case SYS_set_tid_address:
	case SYS_uname:
	case SYS_sysinfo:
	case SYS_getrlimit:
	case SYS_prlimit64:
	case SYS_getrusage:
	case SYS_times:
	case SYS_getuid:
	case SYS_geteuid:
	case SYS_getgid:
	case SYS_getegid:
	case SYS_getresuid:
	case SYS_getresgid:
	case SYS_getgroups:
	case SYS_getpgrp:
	case SYS_getpgid:
	case SYS_getsid:
	case SYS_clock_gettime:
	case SYS_clock_getres:
	case SYS_gettimeofday:
	case SYS_time:
	case SYS_sched_getaffinity:
	case SYS_sched_setaffinity:
	case SYS_sched_getparam:
	case SYS_sched_getscheduler:
	case SYS_sched_getattr:
	case SYS_sched_get_priority_max:
	case SYS_sched_get_priority_min:
	case SYS_sched_rr_get_interval:
	case SYS_getpriority:
	case SYS_setpriority:
		return true;
	}
	return false;
}

/* Does the call only look at files and descriptors? */
static bool looks(long nr, const long a[6])
{
	switch (nr) {
	case SYS_fcntl:
		return a[1] == F_GETFL || a[1] == F_GETFD || a[1] == F_GETLK;
	case SYS_pread64:
	case SYS_preadv:
	case SYS_stat:
	case SYS_fstat:
	case SYS_lstat:
	case SYS_newfstatat:
	case SYS_statx:
	case SYS_access:
	case SYS_faccessat:
	case SYS_faccessat2:
	case SYS_readlink:
	case SYS_readlinkat:
	case SYS_getcwd:
	case SYS_statfs:
	case SYS_fstatfs:
	case SYS_getxattr:
		return true;
	}
	return false;
}

/* Calls that wait, or that others depend on: points. Actions before a write or a close
 * happen before actions after a read, or with a reused descriptor. */
void x_io_point(long nr, const long a[6], uintptr_t pc)
{
	x_drain_if_tso(pc);
	if (nr == SYS_read || nr == SYS_readv || nr == SYS_write || nr == SYS_writev || nr == SYS_accept || nr == SYS_accept4 ||
	    nr == SYS_recvfrom || nr == SYS_recvmsg || nr == SYS_sendto || nr == SYS_sendmsg)
		x_cancel_point();
	if (X.alone || is_quiet(nr, a))
		return;
	struct x_object *io = x_object(X_IO, XO_ATOMIC, pc);
	long flags = nr == SYS_recvfrom || nr == SYS_sendto ? a[3] : nr == SYS_recvmsg || nr == SYS_sendmsg ? a[2] : 0;
	switch (nr) {
	case SYS_read:
	case SYS_readv:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_accept:
	case SYS_accept4:
		takes(a[0], flags, pc);
		x_acquire(&io->clock);
		return;
	case SYS_lseek:
		x_point(SCHED_RMW, NULL, source_of(a[0]), 0, 8, 0, pc);
		return;
	case SYS_write:
	case SYS_writev:
	case SYS_sendto:
	case SYS_sendmsg:
		gives(a[0], flags, pc);
		x_release_join(&io->clock);
		return;
	case SYS_close:
	case SYS_shutdown:
	case SYS_epoll_ctl:
		io_point(pc);
		x_release_join(&io->clock);
		return;
	case SYS_open:
	case SYS_openat:
	case SYS_pipe:
	case SYS_pipe2:
	case SYS_socket:
	case SYS_socketpair:
	case SYS_dup:
	case SYS_eventfd2:
	case SYS_epoll_create1:
		io_point(pc);
		x_acquire(&io->clock);
		return;
	}
	if (looks(nr, a))
		x_point(SCHED_LOAD, NULL, X_IO, 0, 8, 0, pc);
	else
		io_point(pc); /* what it changes is not known, or is of no interest */
}
