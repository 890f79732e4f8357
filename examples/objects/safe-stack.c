/*
 * Vyukov's SafeStack, a stack of three numbers that is meant to be free of ABA (SCTBench has it as a hard case for testing). A take
 * fails when one number is left, so that the last one stays. It is broken: pop_number clears the link of the head before
 * it knows that the head is still the head, and restores it later from what it has read.
 * There is no right version.
 */
#include <assert.h>
#include <intact/test.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { NUMBERS = 3 };

struct stack {
	atomic_int head, count;
	atomic_int next[NUMBERS];
	atomic_int owned[NUMBERS];
};

static void *create(void)
{
	struct stack *s = calloc(1, sizeof *s);
	atomic_init(&s->count, NUMBERS);
	for (int i = 0; i < NUMBERS; i++)
		atomic_init(&s->next[i], i + 1 < NUMBERS ? i + 1 : -1);
	return s;
}

static int pop_number(struct stack *s)
{
	while (atomic_load(&s->count) > 1) {
		int head = atomic_load(&s->head), next = atomic_exchange(&s->next[head], -1), expected = head;
		if (next < 0)
			continue;
		if (atomic_compare_exchange_strong(&s->head, &expected, next)) {
			atomic_fetch_sub(&s->count, 1);
			return head;
		}
		atomic_exchange(&s->next[head], next);
	}
	return -1;
}

static void push_number(struct stack *s, int number)
{
	int head = atomic_load(&s->head);
	do
		atomic_store(&s->next[number], head);
	while (!atomic_compare_exchange_strong(&s->head, &head, number));
	atomic_fetch_add(&s->count, 1);
}

/* Takes a number, which no other thread has, and gives it back; does nothing when there is none. */
static long use(void *object, const long *arg)
{
	struct stack *s = object;
	int number = pop_number(s);
	(void)arg;
	if (number < 0)
		return INTACT_VOID;
	assert(atomic_exchange(&s->owned[number], 1) == 0);
	atomic_store(&s->owned[number], 0);
	push_number(s, number);
	return INTACT_VOID;
}

static const struct intact_test stack = {
	.name = "safe-stack",
	.create = create,
	.destroy = free,
	.operations = { INTACT_OPERATION(use) },
};
INTACT_TEST_MAIN(stack)
