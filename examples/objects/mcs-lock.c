/*
 * A counter under the queue lock of Mellor-Crummey and Scott. With -DBROKEN the holder that sees no successor clears the tail by
 * a store and not by a compare-and-swap: a successor that has just come waits forever.
 */
#include <intact/test.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

struct waiter {
	struct waiter *_Atomic next;
	_Atomic int waits;
};

struct counter {
	struct waiter *_Atomic tail;
	long count; /* under the lock */
};

static void *create(void)
{
	return calloc(1, sizeof(struct counter));
}

static void lock(struct counter *c, struct waiter *me)
{
	atomic_store(&me->next, NULL);
	atomic_store(&me->waits, 1);
	struct waiter *before = atomic_exchange(&c->tail, me);
	if (!before)
		return;
	atomic_store(&before->next, me);
	while (atomic_load(&me->waits))
		sched_yield();
}

static void unlock(struct counter *c, struct waiter *me)
{
	struct waiter *next = atomic_load(&me->next);
	if (!next) {
#ifdef BROKEN
		atomic_store(&c->tail, NULL);
		return;
#else
		struct waiter *expected = me;
		if (atomic_compare_exchange_strong(&c->tail, &expected, NULL))
			return;
		while (!(next = atomic_load(&me->next)))
			sched_yield();
#endif
	}
	atomic_store(&next->waits, 0);
}

static long next(void *object, const long *arg)
{
	struct counter *c = object;
	struct waiter me;
	(void)arg;
	lock(c, &me);
	long count = c->count;
	c->count++;
	unlock(c, &me);
	return count;
}

static const struct intact_test counter = {
	.name = "mcs-lock",
	.create = create,
	.destroy = free,
	.operations = { INTACT_OPERATION(next) },
};
INTACT_TEST_MAIN(counter)
