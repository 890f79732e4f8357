/*
 * identity: the ids of the process and of its threads, and the system calls that take
 * one.
 *
 * Ids are the same in every run, so that what is made of them is, too: a seed, a hash,
 * a name. They are above what the kernel gives out (pid_max is at most 2^22), so that
 * none names another process. Calls about the program's own process are made with the
 * real id; what they would set for a single thread (its processors, its priority) has
 * no meaning for fibers and is left out.
 */
#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "runtime/explore/explorer.h"

enum { PROCESS = 5000000, PARENT = PROCESS - 1 };

/* Of the program. Libc knows the threads that lend their stacks by the kernel's ids. */
static bool own(long id)
{
	if (id == 0 || (id >= PROCESS && id < PROCESS + (long)X.nthreads))
		return true;
	long group = x_server_pid ? x_server_pid : x_sys(SYS_getpid, 0, 0, 0, 0, 0, 0);
	return id > 0 && id < PROCESS && x_sys(SYS_tgkill, group, id, 0, 0, 0, 0) == 0;
}

bool x_own_process(long id)
{
	return id == 0 || id == PROCESS;
}

/* As the kernel: a mask without any processor is wrong. */
static long set_affinity(const unsigned char *mask, long bytes)
{
	for (long i = 0; mask && i < bytes && i < 1024; i++)
		if (mask[i])
			return 0;
	return mask ? -EINVAL : -EFAULT;
}

bool x_identity(long nr, long a[6], long *r)
{
	*r = 0;
	switch (nr) {
	case SYS_getpid:
	case SYS_gettid:
		*r = PROCESS + (nr == SYS_gettid ? (long)X.current : 0);
		return true;
	case SYS_getcpu: /* all are on one */
		for (int i = 0; i < 2; i++)
			if (a[i]) {
				x_snapshot_touch((uintptr_t)a[i], sizeof(unsigned));
				*(unsigned *)a[i] = 0;
			}
		return true;
	case SYS_getppid:
		*r = PARENT;
		return true;
	case SYS_sched_setaffinity:
		if (own(a[0]))
			*r = set_affinity((const unsigned char *)a[2], a[1]);
		return own(a[0]);
	case SYS_sched_setscheduler:
	case SYS_sched_setparam:
	case SYS_sched_setattr:
		return own(a[0]);
	case SYS_setpriority:
		return a[0] == PRIO_PROCESS && own(a[1]);
	case SYS_sched_getaffinity:
	case SYS_sched_getscheduler:
	case SYS_sched_getparam:
	case SYS_sched_getattr:
	case SYS_sched_rr_get_interval:
	case SYS_prlimit64:
	case SYS_getpgid:
	case SYS_getsid:
		if (own(a[0]))
			a[0] = 0;
		return false;
	case SYS_getpriority:
		if (a[0] == PRIO_PROCESS && own(a[1]))
			a[1] = 0;
		return false;
	case SYS_process_vm_readv:
	case SYS_process_vm_writev:
	case SYS_pidfd_open:
		if (own(a[0]))
			a[0] = x_sys(SYS_getpid, 0, 0, 0, 0, 0, 0);
		return false;
	}
	return false;
}
