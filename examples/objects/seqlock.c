/*
 * A pair of numbers under a sequence lock: readers do not write, they read again when the sequence was odd or has changed. With
 * -DBROKEN they look at the sequence only once, so they can return half of a write.
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
	unsigned s = atomic_load(&p->sequence);
	atomic_store(&p->sequence, s + 1);
	atomic_store(&p->a, arg[0]);
	atomic_store(&p->b, arg[0] * 10);
	atomic_store(&p->sequence, s + 2);
	return INTACT_VOID;
}

static long get(void *object, const long *arg)
{
	struct pair *p = object;
	(void)arg;
	for (;;) {
		unsigned s = atomic_load(&p->sequence);
		if (s & 1)
			continue;
		long a = atomic_load(&p->a), b = atomic_load(&p->b);
#ifndef BROKEN
		if (atomic_load(&p->sequence) != s)
			continue;
#endif
		return a * 1000 + b;
	}
}

static const struct intact_test seqlock = {
	.name = "seqlock",
	.create = create,
	.destroy = free,
	.operations = { INTACT_OPERATION(set, .arg = { INTACT_UNIQUE }, .threads = INTACT_THREAD(1)),
	                INTACT_OPERATION(get, .threads = INTACT_THREADS_FROM(2)) },
};
INTACT_TEST_MAIN(seqlock)
