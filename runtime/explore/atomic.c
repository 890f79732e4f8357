/*
 * atomic: atomics under exploration: a point before, happens-before after it.
 *
 * As in C11: a release store begins a release sequence with what its thread knows, a
 * relaxed one ends it, a read-modify-write continues it. Who acquires takes up what
 * the sequence knows. Fences: stores after a release fence publish what was known at
 * the fence; an acquire fence takes up what relaxed loads before it saw.
 */
#include "runtime/explore/explorer.h"

enum { RELAXED, CONSUME, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST };

static inline bool acquires(int mo)
{
	return (mo &= 7) == ACQUIRE || mo == CONSUME || mo >= ACQ_REL;
}

static inline bool releases(int mo)
{
	return (mo & 7) >= RELEASE;
}

void x_atomic(uintptr_t addr, unsigned size, unsigned kind, uintptr_t pc)
{
	if (X.alone)
		return;
	x_point_memory(kind, addr, size, pc);
}

/* What fences need is kept from the first time on that it may matter; until then it was not
 * cleared for this run. True. */
static bool fences(void)
{
	if (X.fences)
		return true;
	X.fences = true;
	for (uint32_t u = 0; u < X.nthreads; u++) {
		x_clock_begin(X.thread_more[u].fence_rel, NULL);
		x_clock_begin(X.thread_more[u].fence_acq, NULL);
	}
	return true;
}

/* The clock restarts with what was known at the last release fence, if anything. */
static void relaxed_store(struct x_object *o, bool joins)
{
	struct x_thread *t = x_me();
	if (!joins && o->clock.n) { /* the sequence ends */
		for (unsigned i = 0; i < o->clock.n; i++)
			o->clock.at[i] = 0;
		o->clock.last = (uint16_t)X.current;
		o->clock.last_clock = 0;
	}
	if (!t->fenced)
		return;
	uint32_t *mine = X.clock[X.current], keep[X_THREADS], *rel = X.thread_more[X.current].fence_rel;
	for (uint32_t i = 0; i < X.nthreads; i++) {
		keep[i] = mine[i];
		mine[i] = rel[i];
	}
	x_release_join(&o->clock);
	o->clock.last = X_THREADS;
	for (uint32_t i = 0; i < X.nthreads; i++)
		mine[i] = keep[i];
}

void x_atomic_done(uintptr_t addr, unsigned size, bool read, bool wrote, int order, uintptr_t pc)
{
	if (X.alone)
		return;
	struct x_object *o = x_object(addr, XO_ATOMIC, pc);
	if (read) { /* what it reads from, and all before that, happened before this access, too */
		if (acquires(order))
			x_acquire(&o->clock);
		else if (o->clock.n && fences())
			x_join_clock(X.thread_more[X.current].fence_acq, o->clock.at, o->clock.n);
	}
	if (!wrote || !x_atomic_follows(o, ((1u << (size & 15)) - 1) << (addr & 7), pc))
		x_accessed_atomic(o, addr, size, wrote, pc);
	if (!wrote) {
		x_spin_failed(addr, size, pc);
		return;
	}
	x_effect();
	if (!releases(order))
		relaxed_store(o, read);
	else if (read && !acquires(order))
		x_release_join(&o->clock);
	else
		x_release(&o->clock);
}

void x_fence(int order, uintptr_t pc)
{
	if (X.alone)
		return;
	fences();
	struct x_thread *t = x_me();
	struct x_thread_more *more = &X.thread_more[X.current];
	x_point(SCHED_FENCE, NULL, 0, 0, 0, 0, pc);
	if (acquires(order))
		x_join_clock(X.clock[X.current], more->fence_acq, X.nthreads);
	if (releases(order)) {
		for (uint32_t i = 0; i < X.nthreads; i++)
			more->fence_rel[i] = X.clock[X.current][i];
		X.clock[X.current][X.current]++;
		t->fenced = true;
	}
}
