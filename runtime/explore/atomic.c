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

/* A store that goes into the buffer; before anything else the buffer is drained. */
static NOINLINE bool into_buffer(uintptr_t addr, unsigned size, unsigned kind, int order, uintptr_t pc)
{
	struct x_buffer *b = &X.buffer[X.current];
	b->atomic = NULL;
	if (kind != SCHED_STORE || (order & 7) >= SEQ_CST || !x_buffer_takes(addr, size)) {
		x_drain(pc);
		return false;
	}
	x_buffer_store(addr, size, pc);
	b->atomic = &b->store[(b->stored - 1) % X_STORES];
	return true;
}

/* True: the point is made. */
static NOINLINE bool weak(uintptr_t addr, unsigned size, unsigned kind, int order, uintptr_t pc)
{
	if (X.tso)
		return kind != SCHED_LOAD && into_buffer(addr, size, kind, order, pc);
	X.views.seq_cst = x_views_seq_cst(kind, order);
	x_point_memory(kind, addr, size, pc);
	x_views_choose(addr, size, kind, order, pc);
	return true;
}

void x_atomic(uintptr_t addr, unsigned size, unsigned kind, int order, uintptr_t pc)
{
	if (X.alone)
		return;
	if (unlikely(X.weak) && weak(addr, size, kind, order, pc))
		return;
	x_point_memory(kind, addr, size, pc);
}

/* What fences need is kept from the first time on that it may matter; until then it was not
 * cleared for this run. True. */
bool x_fences(void)
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

/* The clock restarts with `rel`, what was known at the last release fence, if anything. */
static void relaxed_store(struct x_object *o, bool joins, const uint32_t *rel)
{
	if (!joins && o->clock.n) { /* the sequence ends */
		for (unsigned i = 0; i < o->clock.n; i++)
			o->clock.at[i] = 0;
		o->clock.last = (uint16_t)X.current;
		o->clock.last_clock = 0;
	}
	if (!rel)
		return;
	uint32_t *mine = X.clock[X.current], keep[X_THREADS];
	for (uint32_t i = 0; i < X.nthreads; i++) {
		keep[i] = mine[i];
		mine[i] = rel[i];
	}
	x_release_join(&o->clock);
	o->clock.last = X_THREADS;
	for (uint32_t i = 0; i < X.nthreads; i++)
		mine[i] = keep[i];
}

/* ---- in a store buffer ---- */

/* A store that was made into the buffer: who acquires from it later takes up what its thread knows now. */
static void buffered(struct x_store *e, struct x_object *o, uintptr_t addr, unsigned size, int order, uintptr_t pc)
{
	struct x_thread *t = x_me();
	uint8_t logging = X.logging;
	uint32_t *mine = X.clock[X.current];
	const uint32_t *known = releases(order) ? mine : t->fenced ? X.thread_more[X.current].fence_rel : NULL;
	X.buffer[X.current].atomic = NULL;
	X.logging = 0; /* its place among the conflicts is where it is flushed */
	x_accessed_atomic(o, addr, size, true, pc);
	X.logging = logging;
	x_effect();
	e->atomic = true;
	e->releases = releases(order);
	e->nclock = known ? X.nthreads : 0;
	for (uint32_t i = 0; i < e->nclock; i++)
		e->clock[i] = known[i];
	mine[X.current] += e->releases;
}

/* An access that ends at the buffer: a store into it, or a load that reads the thread's own store and so acquires
 * nothing that it does not know. */
static NOINLINE bool by_buffer(struct x_object *o, uintptr_t addr, unsigned size, bool wrote, int order, uintptr_t pc)
{
	if (wrote && X.buffer[X.current].atomic) {
		buffered(X.buffer[X.current].atomic, o, addr, size, order, pc);
		return true;
	}
	if (wrote || !x_buffer_holds(addr, size))
		return false;
	x_accessed_atomic(o, addr, size, false, pc);
	x_spin_failed(addr, size, pc);
	return true;
}

void x_flushes(struct x_store *e)
{
	x_flush_freed(e);
	if (unlikely(X.logging)) {
		unsigned off = e->addr & 7, mask = ((1u << e->size) - 1) << off;
		x_log_access(e->addr, mask & 0xff, true, e->atomic, e->pc);
		if (mask > 0xff)
			x_log_access(e->addr + 8, mask >> 8, true, e->atomic, e->pc);
	}
	if (!e->atomic)
		return;
	struct x_object *o = x_object(e->addr, XO_ATOMIC, e->pc);
	for (uint32_t i = e->nclock; e->nclock && i < X.nthreads; i++)
		e->clock[i] = 0; /* of threads that began later */
	if (!e->releases) {
		relaxed_store(o, false, e->nclock ? e->clock : NULL);
		return;
	}
	uint32_t *mine = X.clock[X.current], keep[X_THREADS];
	for (uint32_t i = 0; i < X.nthreads; i++) {
		keep[i] = mine[i];
		mine[i] = e->clock[i];
	}
	x_release(&o->clock);
	for (uint32_t i = 0; i < X.nthreads; i++)
		mine[i] = keep[i];
}

static inline void done_sc(struct x_object *o, uintptr_t addr, unsigned size, bool read, bool wrote, int order, uintptr_t pc)
{
	if (read) { /* what it reads from, and all before that, happened before this access, too */
		if (acquires(order))
			x_acquire(&o->clock);
		else if (o->clock.n && x_fences())
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
		relaxed_store(o, read, x_me()->fenced ? X.thread_more[X.current].fence_rel : NULL);
	else if (read && !acquires(order))
		x_release_join(&o->clock);
	else
		x_release(&o->clock);
}

void x_atomic_done_sc(struct x_object *o, uintptr_t addr, unsigned size, bool read, bool wrote, int order, uintptr_t pc)
{
	done_sc(o, addr, size, read, wrote, order, pc);
}

void x_atomic_done(uintptr_t addr, unsigned size, bool read, bool wrote, int order, uintptr_t pc)
{
	if (X.alone)
		return;
	if (unlikely(X.c11)) {
		x_views_done(addr, size, read, wrote, order, pc);
		return;
	}
	struct x_object *o = x_object(addr, XO_ATOMIC, pc);
	if (unlikely(X.tso) && by_buffer(o, addr, size, wrote, order, pc))
		return;
	done_sc(o, addr, size, read, wrote, order, pc);
}

void x_fence(int order, uintptr_t pc)
{
	if (X.alone)
		return;
	x_fences();
	bool sc = unlikely(X.c11) && (order & 7) == SEQ_CST;
	if (unlikely(X.tso) && (order & 7) == SEQ_CST)
		x_drain(pc);
	struct x_thread *t = x_me();
	struct x_thread_more *more = &X.thread_more[X.current];
	x_point(sc ? SCHED_FENCE_SC : SCHED_FENCE, NULL, 0, 0, 0, sc ? SCHED_SEQ_CST : 0, pc);
	if (acquires(order))
		x_join_clock(X.clock[X.current], more->fence_acq, X.nthreads);
	if (sc)
		x_views_fence();
	if (releases(order)) {
		for (uint32_t i = 0; i < X.nthreads; i++)
			more->fence_rel[i] = X.clock[X.current][i];
		X.clock[X.current][X.current]++;
		t->fenced = true;
	}
}
