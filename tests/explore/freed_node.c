/* explore: find misuse
 * explore: says read of freed memory
 * explore: option --races=no
 * A stack of volatile pointers, as libraries older than C11 have them: pop reads `next` of a node that another thread may have taken
 * and freed. Nothing else is between that read and the free, so only the free itself, as a step, has two orders with it.
 * Fixed: nodes are freed at the end. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct node {
	struct node *volatile next;
};

static struct node *volatile top;

static struct node *pop(void)
{
	for (;;) {
		struct node *n = __atomic_load_n(&top, __ATOMIC_ACQUIRE);
		if (!n)
			return NULL;
		struct node *next = n->next;
		if (__atomic_compare_exchange_n(&top, &n, next, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return n;
	}
}

static void *worker(void *arg)
{
	struct node *n = pop();
	(void)arg;
#ifdef FIXED
	return n;
#else
	free(n);
	return NULL;
#endif
}

int main(void)
{
	for (int i = 0; i < 2; i++) {
		struct node *n = malloc(sizeof *n);
		n->next = top;
		top = n;
	}
	pthread_t t[2];
	void *got[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], &got[i]);
	for (int i = 0; i < 2; i++)
		free(got[i]);
	assert(!top);
	return 0;
}
