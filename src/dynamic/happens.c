/*
 * happens: what atomic operations order, as in C11 and C++20.
 *
 * A release store begins a release sequence with what its thread knows; a relaxed store
 * ends it; a read-modify-write continues it, and adds what its own thread knows when it
 * releases. Who acquires takes up what the sequence knows. Fences: stores after a release
 * fence publish what was known at the fence; an acquire fence takes up what relaxed loads
 * before it saw. (runtime/explore/atomic.c decides the same of explored schedules, with the clocks of a
 * scheduler that runs one thread at a time.)
 *
 * Cost: that of two clocks, and of nothing for a relaxed operation where no fence is used.
 */
#include "base/invariant.h"
#include "dynamic/races.h"
#include "dynamic/reduction.h"

enum { RELAXED, CONSUME, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST };

static bool acquires(int order)
{
	return (order &= 7) == ACQUIRE || order == CONSUME || order >= ACQ_REL;
}

static bool releases(int order)
{
	return (order & 7) >= RELEASE;
}

/* What was published is over: later accesses are not part of it. */
static void published(struct thread *t)
{
	assert(t->stamp <= t->acc.epoch);
	red_tick(t);
	t->stamp = t->acc.epoch;
}

static void fence(struct dynamic *d, struct thread *t, int order)
{
	if (acquires(order) && t->fence_acquired.n) {
		clock_join(&d->bump, &t->clock, &t->fence_acquired);
		clock_clear(&t->fence_acquired);
		red_learned(t);
	}
	if (releases(order)) {
		t->fenced = clock_copy(&d->bump, &t->fence_released, &t->clock);
		d->races.off |= !t->fenced;
		published(t);
	}
}

static bool load(struct dynamic *d, struct thread *t, const struct lock *l, int order)
{
	assert(__atomic_load_n(&l->spin.held, __ATOMIC_RELAXED));
	if (!l->clock.n)
		return true;
	if (!acquires(order))
		return clock_join(&d->bump, &t->fence_acquired, &l->clock);
	bool ok = clock_join(&d->bump, &t->clock, &l->clock);
	red_learned(t);
	return ok;
}

static bool store(struct dynamic *d, struct thread *t, struct lock *l, bool continues, int order)
{
	const struct clock *known = releases(order) ? &t->clock : t->fenced ? &t->fence_released : NULL;
	bool ok = true;
	assert(__atomic_load_n(&l->spin.held, __ATOMIC_RELAXED) && (!t->fenced || t->fence_released.n));
	l->rel_tid = 0;
	if (!continues)
		clock_clear(&l->clock);
	if (known)
		ok = clock_join(&d->bump, &l->clock, known);
	if (releases(order))
		published(t);
	return ok;
}

void red_atomic(struct dynamic *d, struct thread *t, uintptr_t addr, unsigned size, enum atomic_kind kind, int order, uintptr_t pc)
{
	if (kind == ATOMIC_FENCE) {
		fence(d, t, order);
		return;
	}
	assert(size && size <= 16 && kind < ATOMIC_FENCE);
	bool writes = kind != ATOMIC_LOAD, ok = true;
	uint32_t id = writes && (releases(order) || t->fenced) ? red_lock_id(d, t, addr) : lock_known(&d->locks, addr);
	struct lock *l = id ? &d->locks.locks[id] : NULL;
	d->races.off |= !l && writes && releases(order); /* the table is full */
	if (l)
		spin_lock(&l->spin);
	if (l && kind != ATOMIC_STORE)
		ok = load(d, t, l, order);
	unsigned how = RACE_ATOMIC | (writes ? RACE_WRITE : 0u), off = addr & 7, n = size < 8 - off ? size : 8 - off;
	if (d->races.on) {
		races_access(d, t, addr, (0xffu >> (8 - n)) << off, how, pc);
		for (uintptr_t at = (addr | 7) + 1; at < addr + size; at += 8)
			races_access(d, t, at, 0xffu >> (addr + size - at < 8 ? 8 - (addr + size - at) : 0), how, pc);
	}
	if (l && writes)
		ok &= store(d, t, l, kind == ATOMIC_RMW, order);
	if (l)
		spin_unlock(&l->spin);
	d->races.off |= !ok;
}
