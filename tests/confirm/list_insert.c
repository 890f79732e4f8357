/* confirm: finds insert_sorted -- the place that was found may be wrong when it is used. */
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
struct node {
	int key;
	struct node *next;
};
static struct node head, pool[2] = { { 5, NULL }, { 6, NULL } };

static struct node *before(int key)
{
	struct node *p = &head;
	while (p->next && p->next->key < key)
		p = p->next;
	return p;
}

static void insert_sorted(struct node *n)
{
	pthread_mutex_lock(&m);
	struct node *p = before(n->key), *next = p->next;
#ifndef FIXED
	pthread_mutex_unlock(&m);
	pthread_mutex_lock(&m);
#endif
	n->next = next;
	p->next = n;
	pthread_mutex_unlock(&m);
}

static void *worker(void *arg)
{
	insert_sorted(arg);
	return NULL;
}

int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, &pool[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
