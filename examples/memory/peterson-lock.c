/*
 * Peterson's lock for two threads, which protects a counter. With -DBROKEN `turn` is stored without waiting for it to reach memory:
 * the thread may read the other one's flag before, and both get the lock.
 */
#include <intact/test.h>
#include <stdatomic.h>
#include <stdlib.h>

struct counter {
	atomic_int flag[2], turn;
	long value; /* protected by the lock */
};

static void *create(void)
{
	return calloc(1, sizeof(struct counter));
}

static void lock(struct counter *c, int self)
{
	atomic_store_explicit(&c->flag[self], 1, memory_order_relaxed);
#ifdef BROKEN
	atomic_store_explicit(&c->turn, !self, memory_order_release);
#else
	atomic_store_explicit(&c->turn, !self, memory_order_seq_cst);
#endif
	while (atomic_load_explicit(&c->flag[!self], memory_order_acquire) &&
	       atomic_load_explicit(&c->turn, memory_order_acquire) == !self)
		;
}

static void unlock(struct counter *c, int self)
{
	atomic_store_explicit(&c->flag[self], 0, memory_order_release);
}

static long add(struct counter *c, int self)
{
	lock(c, self);
	long value = c->value++;
	unlock(c, self);
	return value;
}

static long add_first(void *object, const long *arg)
{
	(void)arg;
	return add(object, 0);
}

static long add_second(void *object, const long *arg)
{
	(void)arg;
	return add(object, 1);
}

static const struct intact_test counter = {
	.name = "peterson-lock",
	.create = create,
	.destroy = free,
	.operations = { INTACT_OPERATION(add_first, .threads = INTACT_THREAD(1)),
	                INTACT_OPERATION(add_second, .threads = INTACT_THREAD(2)) },
};
INTACT_TEST_MAIN(counter)
