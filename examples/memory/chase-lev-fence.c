/*
 * The work-stealing deque of Chase and Lev with the memory orders of Le, Pop, Cohen and Zappa Nardelli (PPoPP 2013). The owner
 * (thread 1) takes from the bottom: it announces that by a store and then reads `top`. With -DBROKEN the fence between them is missing: on
 * x86 the owner reads `top` while thieves still see the old `bottom`, and the same element is taken twice.
 */
#include <intact/test.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { ROOM = 16 };

struct deque {
	atomic_long top, bottom, item[ROOM];
};

static void *create(void)
{
	return calloc(1, sizeof(struct deque));
}

static long push(void *object, const long *arg)
{
	struct deque *d = object;
	long b = atomic_load_explicit(&d->bottom, memory_order_relaxed);
	atomic_store_explicit(&d->item[b % ROOM], arg[0], memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&d->bottom, b + 1, memory_order_relaxed);
	return INTACT_VOID;
}

static long take(void *object, const long *arg)
{
	struct deque *d = object;
	long b = atomic_load_explicit(&d->bottom, memory_order_relaxed) - 1, value = INTACT_EMPTY;
	(void)arg;
	atomic_store_explicit(&d->bottom, b, memory_order_relaxed);
#ifndef BROKEN
	atomic_thread_fence(memory_order_seq_cst);
#endif
	long t = atomic_load_explicit(&d->top, memory_order_relaxed);
	if (t <= b)
		value = atomic_load_explicit(&d->item[b % ROOM], memory_order_relaxed);
	if (t < b)
		return value;
	if (t == b && !atomic_compare_exchange_strong_explicit(&d->top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed))
		value = INTACT_EMPTY;
	atomic_store_explicit(&d->bottom, b + 1, memory_order_relaxed);
	return value;
}

static long steal(void *object, const long *arg)
{
	struct deque *d = object;
	(void)arg;
	for (;;) {
		long t = atomic_load_explicit(&d->top, memory_order_acquire);
		atomic_thread_fence(memory_order_seq_cst);
		if (t >= atomic_load_explicit(&d->bottom, memory_order_acquire))
			return INTACT_EMPTY;
		long value = atomic_load_explicit(&d->item[t % ROOM], memory_order_relaxed);
		if (atomic_compare_exchange_strong_explicit(&d->top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed))
			return value;
	}
}

static const struct intact_test deque = {
	.name = "chase-lev-fence",
	.create = create,
	.destroy = free,
	.before = { { "push", { 100 } }, { "push", { 101 } } },
	.operations = { INTACT_OPERATION(push, .arg = { INTACT_UNIQUE }, .threads = INTACT_THREAD(1)),
	                INTACT_OPERATION(take, .as = "pop", .threads = INTACT_THREAD(1)),
	                INTACT_OPERATION(steal, .threads = INTACT_THREADS_FROM(2)) },
	.spec = "deque",
};
INTACT_TEST_MAIN(deque)
