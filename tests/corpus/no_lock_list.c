/* A list that is extended at its head without any lock.
 * corpus: finds push -- lost update */
#include "corpus.h"
static struct node {
	struct node *next;
} nodes[2], *head;
#ifdef FIXED
static pthread_mutex_t m = MUTEX;
#endif
static void push(struct node *n)
{
#ifdef FIXED
	LOCK(m);
#endif
	n->next = head;
	GAP();
	head = n;
#ifdef FIXED
	UNLOCK(m);
#endif
}
static void *first(void *arg)
{
	push(&nodes[0]);
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	push(&nodes[1]);
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
