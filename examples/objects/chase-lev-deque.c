/*
 * The work-stealing deque of Chase and Lev: the owner (thread 1) pushes and pops at the bottom, the others steal from the
 * top. With -DBROKEN the owner takes the last element without the compare-and-swap that a thief would lose: both get it.
 */
#include <intact/test.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { ROOM = 16 };

struct deque {
	_Atomic long top, bottom;
	_Atomic long item[ROOM];
};

static void *create(void)
{
	return calloc(1, sizeof(struct deque));
}

static long push(void *object, const long *arg)
{
	struct deque *d = object;
	long b = atomic_load(&d->bottom);
	atomic_store(&d->item[b % ROOM], arg[0]);
	atomic_store(&d->bottom, b + 1);
	return INTACT_VOID;
}

static long pop(void *object, const long *arg)
{
	struct deque *d = object;
	long b = atomic_load(&d->bottom) - 1;
	(void)arg;
	atomic_store(&d->bottom, b);
	long t = atomic_load(&d->top);
	if (t > b) {
		atomic_store(&d->bottom, t);
		return INTACT_EMPTY;
	}
	long value = atomic_load(&d->item[b % ROOM]);
	if (t < b)
		return value;
#ifdef BROKEN
	atomic_store(&d->top, t + 1);
#else
	if (!atomic_compare_exchange_strong(&d->top, &t, t + 1))
		value = INTACT_EMPTY;
#endif
	atomic_store(&d->bottom, b + 1);
	return value;
}

static long steal(void *object, const long *arg)
{
	struct deque *d = object;
	(void)arg;
	for (;;) {
		long t = atomic_load(&d->top), b = atomic_load(&d->bottom);
		if (t >= b)
			return INTACT_EMPTY;
		long value = atomic_load(&d->item[t % ROOM]);
		if (atomic_compare_exchange_strong(&d->top, &t, t + 1))
			return value;
	}
}

static const struct intact_test deque = {
	.name = "chase-lev-deque",
	.progress = "lock-free",
	.create = create,
	.destroy = free,
	.before = { { "push", { 100 } } },
	.operations = {
		INTACT_OPERATION(push, .arg = { INTACT_UNIQUE }, .threads = INTACT_THREAD(1)),
		INTACT_OPERATION(pop, .threads = INTACT_THREAD(1)),
		INTACT_OPERATION(steal, .threads = INTACT_THREADS_FROM(2)),
	},
	.spec = "deque",
};
INTACT_TEST_MAIN(deque)
