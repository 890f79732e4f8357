/*
 * sched: forces a schedule: at(n) waits until the steps before n are done,
 * then takes step n. Neither instrumented nor ordering anything the runtime
 * sees, so that a test shows what the program alone does. With -DSCHED_FREE
 * nothing is forced: `intact explore` chooses (explore.py).
 */
#ifndef SCHED_H
#define SCHED_H

#include <sched.h>

#ifdef __clang__
#define SCHED_HIDDEN __attribute__((no_sanitize("thread"), no_instrument_function, noinline, unused))
#else
#define SCHED_HIDDEN __attribute__((no_sanitize_thread, no_instrument_function, noinline, unused))
#endif

/* Alone in its line: nothing of the program's shares eight bytes with it. */
static volatile struct {
	int step;
	char pad[60];
} sched_line __attribute__((aligned(64)));
#define sched_step sched_line.step

SCHED_HIDDEN static void at(int n)
{
#ifndef SCHED_FREE
	while (sched_step < n - 1)
		sched_yield();
#endif
	sched_step = n;
}

/* Step n, unless it has been taken: by the first of several who come here. The
 * caller holds a lock. */
SCHED_HIDDEN static void once_at(int n)
{
	if (sched_step < n)
		at(n);
}

#endif
