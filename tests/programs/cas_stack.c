/* A stack of nodes that are never used again: the link is set before the swap
 * and read through what the swap finds again.
 * intact: none
 * intact: restarts */
#include <intact/annotate.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
enum { EACH = 500 };
static struct node {
	struct node *next;
	int value;
} nodes[2][EACH];
static struct node *_Atomic top;
static _Atomic long sum;
static void push(struct node *n)
{
	INTACT_ATOMIC("push");
	n->next = atomic_load(&top);
	while (!atomic_compare_exchange_strong(&top, &n->next, n))
		;
}
static struct node *pop(void)
{
	INTACT_ATOMIC("pop");
	struct node *n = atomic_load(&top);
	while (n && !atomic_compare_exchange_strong(&top, &n, n->next))
		;
	return n;
}
static void *worker(void *arg)
{
	struct node *own = arg;
	for (int i = 0; i < EACH; i++) {
		own[i].value = i;
		push(&own[i]);
		if (i % 2)
			for (struct node *n; (n = pop());)
				atomic_fetch_add(&sum, n->value);
	}
	return NULL;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, nodes[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	for (struct node *n; (n = pop());)
		atomic_fetch_add(&sum, n->value);
	return sum == (long)EACH * (EACH - 1) ? 0 : 1;
}
