/*
 * A counter and its claim in one word: a thread claims the counter and then increments it, if it still has the claim. With -DBROKEN a
 * claim can be taken over by another thread: each call finishes alone (obstruction-freedom), but two threads can take the claim
 * from each other forever (a livelock). Otherwise nothing is claimed, and a thread fails only when another one has succeeded.
 */
#include <intact/test.h>
#include <stdatomic.h>
#include <stdlib.h>

struct counter {
	_Atomic unsigned long word; /* count << 8 | who has the claim; 0: nobody */
};

static void *create(void)
{
	return calloc(1, sizeof(struct counter));
}

static long next(void *object, const long *arg)
{
	struct counter *c = object;
	unsigned long seen, mine;
	do {
		seen = mine = atomic_load(&c->word);
#ifdef BROKEN
		mine = (seen & ~255ul) | (unsigned long)arg[0];
		atomic_compare_exchange_strong(&c->word, &seen, mine);
#endif
	} while (!atomic_compare_exchange_strong(&c->word, &mine, (mine & ~255ul) + 256));
	(void)arg;
	return (long)(mine >> 8);
}

static const struct intact_test counter = {
	.name = "claim-counter",
	.create = create,
	.destroy = free,
	.progress = "lock-free",
	.operations = { INTACT_OPERATION(next, .arg = { INTACT_UNIQUE }) },
};
INTACT_TEST_MAIN(counter)
