/*
 * A sequence lock with the orders of C11 (Boehm, MSPC 2012). With -DBROKEN the reader has no acquire fence: its reads of the data
 * may be older than the sequence number that it compares, so it can return half of a write. Memory that is
 * sequentially consistent, or x86's, does not show it: `intact explore --memory=c11` does.
 */
#include <intact/test.h>
#include <stdatomic.h>
#include <stdlib.h>

struct pair {
	_Atomic unsigned sequence;
	_Atomic long a, b;
};

static void *create(void)
{
	return calloc(1, sizeof(struct pair));
}

/* Called by one thread. */
static long set(void *object, const long *arg)
{
	struct pair *p = object;
	unsigned s = atomic_load_explicit(&p->sequence, memory_order_relaxed);
	atomic_store_explicit(&p->sequence, s + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&p->a, arg[0], memory_order_relaxed);
	atomic_store_explicit(&p->b, arg[0] * 10, memory_order_relaxed);
	atomic_store_explicit(&p->sequence, s + 2, memory_order_release);
	return INTACT_VOID;
}

static long get(void *object, const long *arg)
{
	struct pair *p = object;
	(void)arg;
	for (;;) {
		unsigned s = atomic_load_explicit(&p->sequence, memory_order_acquire);
		if (s & 1)
			continue;
		long a = atomic_load_explicit(&p->a, memory_order_relaxed), b = atomic_load_explicit(&p->b, memory_order_relaxed);
#ifndef BROKEN
		atomic_thread_fence(memory_order_acquire);
#endif
		if (atomic_load_explicit(&p->sequence, memory_order_relaxed) == s)
			return a * 1000 + b;
	}
}

static const struct intact_test seqlock = {
	.name = "seqlock",
	.create = create,
	.destroy = free,
	.operations = { INTACT_OPERATION(set, .arg = { INTACT_UNIQUE }, .threads = INTACT_THREAD(1)), INTACT_OPERATION(get) },
};
INTACT_TEST_MAIN(seqlock)
