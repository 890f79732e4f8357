/*
 * One box with a value, protected by a hazard pointer: a reader announces the box that it is about to use and looks again whether it is still
 * the current one; a writer puts another box in its place and frees the old one if no reader has announced it. With -DBROKEN
 * the fence between the reader's store and its second look is missing: on x86 the announcement may still be in the store buffer
 * when the writer looks for it, and the reader uses a box that was freed.
 */
#include <intact/test.h>
#include <stdatomic.h>
#include <stdlib.h>

struct box {
	atomic_long value;
};

struct cell {
	struct box *_Atomic current, *_Atomic hazard;
	struct box *kept[8]; /* boxes that a reader had announced: freed at the end */
	int nkept;
};

static struct box *box_new(long value)
{
	struct box *b = malloc(sizeof *b);
	atomic_init(&b->value, value);
	return b;
}

static void *create(void)
{
	struct cell *c = calloc(1, sizeof *c);
	atomic_init(&c->current, box_new(0));
	return c;
}

static void destroy(void *object)
{
	struct cell *c = object;
	free(atomic_load(&c->current));
	for (int i = 0; i < c->nkept; i++)
		free(c->kept[i]);
	free(c);
}

static long get(void *object, const long *arg)
{
	struct cell *c = object;
	struct box *b;
	(void)arg;
	do {
		b = atomic_load_explicit(&c->current, memory_order_acquire);
		atomic_store_explicit(&c->hazard, b, memory_order_release);
#ifndef BROKEN
		atomic_thread_fence(memory_order_seq_cst);
#endif
	} while (atomic_load_explicit(&c->current, memory_order_acquire) != b);
	long value = atomic_load_explicit(&b->value, memory_order_relaxed);
	atomic_store_explicit(&c->hazard, NULL, memory_order_release);
	return value;
}

/* Called by one thread. */
static long set(void *object, const long *arg)
{
	struct cell *c = object;
	struct box *old = atomic_exchange(&c->current, box_new(arg[0]));
	if (atomic_load_explicit(&c->hazard, memory_order_seq_cst) != old)
		free(old);
	else
		c->kept[c->nkept++] = old;
	return INTACT_VOID;
}

static const struct intact_test cell = {
	.name = "hazard-pointer-fence",
	.create = create,
	.destroy = destroy,
	.operations = { INTACT_OPERATION(set, .arg = { INTACT_UNIQUE }, .threads = INTACT_THREAD(1)),
	                INTACT_OPERATION(get, .threads = INTACT_THREAD(2)) },
};
INTACT_TEST_MAIN(cell)
