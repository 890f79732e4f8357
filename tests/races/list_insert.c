/* A list is pushed to by two threads.
 * intact: race head */
#include "race.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
struct node { struct node *next; } *head, n1, n2;
static void push(struct node *n)
{
	n->next = head; /* @race */
	head = n; /* @race */
}
static void *first(void *p)
{
	FIX(pthread_mutex_lock(&m);)
	push(&n1); /* @race */
	FIX(pthread_mutex_unlock(&m);)
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	FIX(pthread_mutex_lock(&m);)
	push(&n2); /* @race */
	FIX(pthread_mutex_unlock(&m);)
	return p;
}
int main(void)
{
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	run2(first, second);
	return 0;
}
