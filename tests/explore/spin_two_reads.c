/* explore: find assertion
 * explore: option --races=no
 * A queue by volatile pointers, as before C11. The consumer's loop reads two of them in each round: it waits for a
 * change, and no schedule is cut off because it spins. The bug: the node is linked before its value is there. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

struct node {
	struct node *next;
	int value;
};

static struct node stub, first;
static struct node *head = &stub;

#define LOAD(x) (*(struct node *volatile *)&(x))

static void *producer(void *arg)
{
#ifdef FIXED
	*(volatile int *)&first.value = 7;
#endif
	LOAD(stub.next) = &first;
#ifndef FIXED
	*(volatile int *)&first.value = 7;
#endif
	return arg;
}

int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, producer, NULL);
	struct node *n;
	while (!(n = LOAD(LOAD(head)->next)))
		;
	assert(*(volatile int *)&n->value == 7);
	pthread_join(t, NULL);
	return 0;
}
