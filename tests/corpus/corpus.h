/*
 * corpus: what the kernels of this folder share. Each is the heart of a published bug, with the names of the
 * original; with -DFIXED it is as it was repaired (or should be).
 *
 * The schedule is forced: the first thread stops in the gap until the second has done its part. GAP() is in the
 * middle of the block, INTRUDE() and INTRUDED() are around the other thread's part. Repaired there is no gap, and
 * the two run as they like.
 */
#ifndef CORPUS_H
#define CORPUS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../programs/sched.h"

static __thread bool intruder __attribute__((unused)); /* it may come through the same block: no gap is its own */

SCHED_HIDDEN static void intrude(void)
{
	intruder = true;
	while (sched_step < 1)
		sched_yield();
}

SCHED_HIDDEN static void wait_in_gap(void)
{
	if (intruder || sched_step)
		return;
	at(1);
	at(3);
}

#ifdef FIXED
#define GAP()      ((void)0)
#define INTRUDE()  ((void)0)
#define INTRUDED() ((void)0)
#else
#define GAP()      wait_in_gap()
#define INTRUDE()  intrude()
#define INTRUDED() at(2)
#endif

#define LOCK(m)   pthread_mutex_lock(&(m))
#define UNLOCK(m) pthread_mutex_unlock(&(m))
#define MUTEX     PTHREAD_MUTEX_INITIALIZER

/* Both threads, at the same time. */
static inline int run_both(void *(*first)(void *), void *(*second)(void *))
{
	pthread_t a, b;
	pthread_create(&a, NULL, first, NULL);
	pthread_create(&b, NULL, second, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}

#endif
