/*
 * A ring with one producer (thread 1) and one consumer (thread 2), with acquire and release. With -DBROKEN the producer announces an
 * element by a relaxed store: the consumer may take the slot as it was before. `intact explore --memory=c11` shows it.
 */
#include <intact/test.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifdef BROKEN
#define ANNOUNCE memory_order_relaxed
#else
#define ANNOUNCE memory_order_release
#endif

enum { ROOM = 1 };

struct ring {
	_Atomic unsigned head, tail;
	_Atomic long slot[ROOM];
};

static void *create(void)
{
	return calloc(1, sizeof(struct ring));
}

static long put(void *object, const long *arg)
{
	struct ring *r = object;
	unsigned t = atomic_load_explicit(&r->tail, memory_order_relaxed);
	if (t - atomic_load_explicit(&r->head, memory_order_acquire) == ROOM)
		return INTACT_FULL;
	atomic_store_explicit(&r->slot[t % ROOM], arg[0], memory_order_relaxed);
	atomic_store_explicit(&r->tail, t + 1, ANNOUNCE);
	return INTACT_VOID;
}

static long take(void *object, const long *arg)
{
	struct ring *r = object;
	unsigned h = atomic_load_explicit(&r->head, memory_order_relaxed);
	(void)arg;
	if (h == atomic_load_explicit(&r->tail, memory_order_acquire))
		return INTACT_EMPTY;
	long value = atomic_load_explicit(&r->slot[h % ROOM], memory_order_relaxed);
	atomic_store_explicit(&r->head, h + 1, memory_order_release);
	return value;
}

static const struct intact_test ring = {
	.name = "ring",
	.create = create,
	.destroy = free,
	.operations = {
		INTACT_OPERATION(put, .arg = { INTACT_UNIQUE }, .threads = INTACT_THREAD(1)),
		INTACT_OPERATION(take, .threads = INTACT_THREAD(2)),
	},
};
INTACT_TEST_MAIN(ring)
