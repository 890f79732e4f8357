/*
 * objects: locks, conditions, semaphores and the like, by address.
 *
 * A table with open addressing. An entry counts when it carries the run's number;
 * the rest is free, so a restart clears nothing. Objects that were made before
 * main are kept apart and put back at each restart.
 *
 * An object that was destroyed, or whose memory was freed, keeps its entry with
 * a flag: the next use of it is an error of the program's.
 */
#include "base/invariant.h"
#include "runtime/explore/explorer.h"

struct x_object *x_object_find(uintptr_t at)
{
	for (uint32_t h = x_object_hash(at);; h = (h + 1) & (X_OBJECTS - 1)) {
		struct x_object *o = &X.object[h];
		if (o->run != X.run)
			return NULL;
		if (o->at == at)
			return o;
	}
}

static void clear(struct x_object *o, unsigned kind)
{
	assert(kind > XO_NONE && kind <= XO_SPIN);
	o->kind = (uint8_t)kind;
	o->flags = 0;
	o->owner = -1;
	o->count = o->need = 0;
	o->clock = (struct x_clock){ .n = 0 };
	for (unsigned i = 0; i < X_WORDS; i++)
		o->pend[i] = o->sleep[i] = 0;
	o->nsleep = 0;
	o->gone_pc = 0;
	o->cell = NULL;
	o->pc = 0;
}

static const char *const kinds[] = { "an object",   "a mutex",    "a read-write lock", "a condition variable",
	                             "a semaphore", "a barrier",  "a once flag",       "an atomic",
	                             "a futex",     "a spin lock" };

static NOINLINE void wrong_use(const struct x_object *o, uintptr_t pc)
{
	X.end_pc = pc;
	X.end_addr = o->at;
	X.gone_pc = o->gone_pc;
	X.gone_thread = o->gone_thread;
	if (o->flags & XO_FREED)
		x_fail(CONTROL_MISUSE, "use of %s in freed memory", kinds[o->kind]);
	x_fail(CONTROL_MISUSE, "use of a destroyed %s", kinds[o->kind] + (kinds[o->kind][1] == ' ' ? 2 : 3));
}

struct x_object *x_object_look(uintptr_t at, unsigned kind, uintptr_t pc)
{
	assert(at && kind > XO_NONE && kind <= XO_SPIN);
	uint32_t h = x_object_hash(at);
	for (;; h = (h + 1) & (X_OBJECTS - 1)) {
		struct x_object *o = &X.object[h];
		if (o->run != X.run)
			break;
		if (o->at != at)
			continue;
		if (unlikely(o->flags & (XO_DESTROYED | XO_FREED)))
			wrong_use(o, pc);
		if (unlikely(o->kind == XO_NONE))
			o->kind = (uint8_t)kind;
		return o;
	}
	if (unlikely(++X.nobjects > X_OBJECTS / 2))
		x_give_up(CONTROL_WHY_INTERNAL, "a run has more than %d locks and atomics", X_OBJECTS / 2);
	struct x_object *o = &X.object[h];
	o->at = at;
	o->run = X.run;
	clear(o, kind);
	if (pc && kind != XO_ATOMIC && x_was_freed(at, &o->gone_pc, &o->gone_thread)) { /* of an atomic, access.c says so */
		o->flags = XO_FREED;
		wrong_use(o, pc);
	}
	return o;
}

void x_object_renew(uintptr_t at, unsigned kind)
{
	struct x_object *o = x_object_find(at);
	if (!o)
		x_object(at, kind, 0);
	else if (!(o->flags & XO_FREED)) /* else its next use says so */
		clear(o, kind);
}

void x_object_destroy(uintptr_t at, uintptr_t pc)
{
	x_point(SCHED_DESTROY, NULL, at, 0, 0, 0, pc);
	x_object_destroyed(at, pc);
}

void x_object_destroyed(uintptr_t at, uintptr_t pc)
{
	struct x_object *o = x_object_find(at);
	if (!o) /* initialised statically, and never used */
		return;
	if (o->flags & (XO_DESTROYED | XO_FREED))
		wrong_use(o, pc);
	o->flags |= XO_DESTROYED;
	o->gone_pc = pc;
	o->gone_thread = (uint16_t)X.current;
}

/* Memory is given back, or given out again (pc 0). */
bool x_objects_freed(uintptr_t at, size_t n, uintptr_t pc)
{
	bool any = false;
	if (!X.nobjects)
		return false;
	for (uintptr_t a = (at + 3) & ~(uintptr_t)3; a < at + n; a += 4) {
		struct x_object *o = x_object_find(a);
		if (!o)
			continue;
		if (!pc) {
			clear(o, XO_NONE);
		} else if (!(o->flags & XO_DESTROYED)) {
			o->flags |= XO_FREED;
			o->gone_pc = pc;
			o->gone_thread = (uint16_t)X.current;
			any |= o->kind != XO_ATOMIC;
		} else {
			o->flags |= XO_FREED;
		}
	}
	return any;
}

void x_objects_save(void)
{
	X.nobjects0 = 0;
	for (uint32_t i = 0; i < X_OBJECTS; i++)
		if (X.object[i].run == X.run) {
			if (X.nobjects0 == sizeof X.object0 / sizeof *X.object0)
				x_give_up(CONTROL_WHY_INTERNAL, "more than 256 locks are initialised before main");
			X.object0[X.nobjects0++] = X.object[i];
		}
}

void x_objects_restore(void)
{
	X.nobjects = 0;
	for (uint32_t i = 0; i < X.nobjects0; i++) {
		struct x_object *o = x_object(X.object0[i].at, X.object0[i].kind, 0);
		o->count = X.object0[i].count;
		o->need = X.object0[i].need;
		o->flags = X.object0[i].flags;
	}
}

/* ---- those that wait for a wake-up ---- */

void x_sleep_in(struct x_object *o)
{
	assert(!x_bit(o->sleep, X.current));
	x_me()->signalled = false;
	x_bit_set(o->sleep, X.current);
	o->nsleep++;
}

void x_leave_sleep(struct x_object *o, uint32_t thread)
{
	if (!x_bit(o->sleep, thread))
		return;
	assert(o->nsleep);
	x_bit_clear(o->sleep, thread);
	o->nsleep--;
}

struct x_thread *x_wake(struct x_object *o, uint32_t nth)
{
	for (unsigned w = 0; w < X_WORDS; w++)
		for (uint64_t m = o->sleep[w]; m; m &= m - 1) {
			uint32_t i = w * 64 + (unsigned)__builtin_ctzll(m);
			if (nth--)
				continue;
			x_leave_sleep(o, i);
			X.thread[i].signalled = true;
			sched_caused(X.sched, i);
			return &X.thread[i];
		}
	return NULL;
}
