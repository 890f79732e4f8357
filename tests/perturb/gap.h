/*
 * gap: a second thread that comes only when it sees the first one sleep. Without delays the first never does: it waits for
 * nothing. So when the second comes into a gap of the first that is the work of a delay, and of nothing else.
 */
#ifndef GAP_H
#define GAP_H

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../programs/sched.h"

static volatile struct {
	char before[64];
	int over, tid;
	char after[64];
} shared __attribute__((aligned(64)));

SCHED_HIDDEN static void begin(void)
{
	shared.tid = (int)syscall(SYS_gettid);
}

/* State S of the thread, by the kernel: it sleeps, and not for the kernel's own reasons (D). */
SCHED_HIDDEN static bool sleeping(int tid)
{
	char name[64], text[512];
	snprintf(name, sizeof name, "/proc/self/task/%d/stat", tid);
	long fd = syscall(SYS_openat, AT_FDCWD, name, O_RDONLY), n;
	if (fd < 0)
		return false;
	n = syscall(SYS_read, fd, text, sizeof text - 1);
	syscall(SYS_close, fd);
	text[n > 0 ? n : 0] = 0;
	const char *end = strrchr(text, ')');
	return end && end[1] == ' ' && end[2] == 'S';
}

/* Until the first thread sleeps (true), or is over. */
SCHED_HIDDEN static bool wait_for_sleep(void)
{
	while (!shared.over) {
		if (shared.tid && sleeping(shared.tid))
			return true;
		sched_yield();
	}
	return false;
}

SCHED_HIDDEN static void over(void)
{
	shared.over = 1;
}

#endif
