/*
 * Vyukov's bounded queue for many producers and consumers: every cell has a sequence number that says whose turn it is. It is not
 * linearizable: while a slow producer has taken a cell and not filled it, a consumer reports an empty queue although a later
 * producer has put a value in and returned (`intact explore` with -DLINEARIZABLE shows it). Scenarios of 2x2 and 3x1 are quiescently
 * consistent, but larger ones are not: while the producer is slow, another call is told `full` and then a third `empty`
 * (--shape 3x2). The order of what goes in and out is that of the cells in every case.
 * With -DBROKEN a producer announces the cell before it has written the value, so a consumer can take an old one.
 */
#include <intact/test.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { ROOM = 2 };

struct ring {
	struct {
		_Atomic unsigned long sequence;
		_Atomic long value;
	} cell[ROOM];
	_Atomic unsigned long in, out;
};

static void *create(void)
{
	struct ring *r = calloc(1, sizeof *r);
	for (unsigned long i = 0; i < ROOM; i++)
		atomic_store(&r->cell[i].sequence, i);
	return r;
}

static long put(void *object, const long *arg)
{
	struct ring *r = object;
	unsigned long at = atomic_load(&r->in);
	for (;;) {
		unsigned long s = atomic_load(&r->cell[at % ROOM].sequence);
		if (s == at) {
			if (atomic_compare_exchange_weak(&r->in, &at, at + 1))
				break;
		} else if (s < at) {
			return INTACT_FULL;
		} else {
			at = atomic_load(&r->in);
		}
	}
#ifdef BROKEN
	atomic_store(&r->cell[at % ROOM].sequence, at + 1);
	atomic_store(&r->cell[at % ROOM].value, arg[0]);
#else
	atomic_store(&r->cell[at % ROOM].value, arg[0]);
	atomic_store(&r->cell[at % ROOM].sequence, at + 1);
#endif
	return INTACT_VOID;
}

static long take(void *object, const long *arg)
{
	struct ring *r = object;
	unsigned long at = atomic_load(&r->out);
	(void)arg;
	for (;;) {
		unsigned long s = atomic_load(&r->cell[at % ROOM].sequence);
		if (s == at + 1) {
			if (atomic_compare_exchange_weak(&r->out, &at, at + 1))
				break;
		} else if (s < at + 1) {
			return INTACT_EMPTY;
		} else {
			at = atomic_load(&r->out);
		}
	}
	long value = atomic_load(&r->cell[at % ROOM].value);
	atomic_store(&r->cell[at % ROOM].sequence, at + ROOM);
	return value;
}

static const struct intact_test ring = {
	.name = "mpmc-ring",
	.progress = "lock-free",
	.create = create,
	.destroy = free,
#ifndef LINEARIZABLE
	.condition = "quiescent",
#endif
	.operations = { INTACT_OPERATION(put, .arg = { INTACT_UNIQUE }), INTACT_OPERATION(take) },
};
INTACT_TEST_MAIN(ring)
