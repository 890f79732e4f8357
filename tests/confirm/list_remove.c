/* confirm: finds remove_key -- what was found may be gone, or have another neighbour. */
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
struct node {
	int key;
	struct node *next;
};
static struct node c = { 3, NULL }, b = { 2, &c }, a = { 1, &b }, head = { 0, &a };

static struct node *find_before(int key)
{
	pthread_mutex_lock(&m);
	struct node *p = &head;
	while (p->next && p->next->key != key)
		p = p->next;
	pthread_mutex_unlock(&m);
	return p;
}

static void unlink_after(struct node *p)
{
	pthread_mutex_lock(&m);
	if (p->next)
		p->next = p->next->next;
	pthread_mutex_unlock(&m);
}

static void remove_key(int key)
{
#ifdef FIXED
	pthread_mutex_lock(&m);
	struct node *p = &head;
	while (p->next && p->next->key != key)
		p = p->next;
	if (p->next)
		p->next = p->next->next;
	pthread_mutex_unlock(&m);
#else
	unlink_after(find_before(key));
#endif
}

static void *worker(void *arg)
{
	remove_key(*(int *)arg);
	return NULL;
}

int main(void)
{
	pthread_t t[2];
	int key[2] = { 1, 2 };
	unlink_after(find_before(9));
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, &key[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
