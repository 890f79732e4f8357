/*
 * A counter under a ticket lock. With -DBROKEN a ticket is taken by a load and a store, so two threads can have the same one.
 */
#include <intact/test.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

struct counter {
	_Atomic unsigned ticket, serving;
	_Atomic long count;
};

static void *create(void)
{
	return calloc(1, sizeof(struct counter));
}

static void lock(struct counter *c)
{
#ifdef BROKEN
	unsigned ticket = atomic_load(&c->ticket);
	atomic_store(&c->ticket, ticket + 1);
#else
	unsigned ticket = atomic_fetch_add(&c->ticket, 1);
#endif
	while (atomic_load(&c->serving) != ticket)
		sched_yield();
}

static void unlock(struct counter *c)
{
	atomic_store(&c->serving, atomic_load(&c->serving) + 1);
}

static long next(void *object, const long *arg)
{
	struct counter *c = object;
	(void)arg;
	lock(c);
	long count = atomic_load(&c->count);
	atomic_store(&c->count, count + 1);
	unlock(c);
	return count;
}

static const struct intact_test counter = {
	.name = "ticket-lock",
	.create = create,
	.destroy = free,
	.operations = { INTACT_OPERATION(next) },
};
INTACT_TEST_MAIN(counter)
