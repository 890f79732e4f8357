/* As hand_over_hand, but the table's lock is let go of before the bin's is taken:
 * insert can come between, and then take can come into insert's gap.
 * intact: find insert predicted */
#include <pthread.h>
#include "sched.h"
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER, bin = PTHREAD_MUTEX_INITIALIZER;
static int size, entries;
static void insert(void)
{ /* @entered */
	pthread_mutex_lock(&table);
	pthread_mutex_lock(&bin);
	int had = entries;
	pthread_mutex_unlock(&bin); /* @commit */
	size++;
	pthread_mutex_lock(&bin); /* @violation */
	entries = had + 1;
	pthread_mutex_unlock(&bin);
	pthread_mutex_unlock(&table);
}
static void take(void)
{
	pthread_mutex_lock(&table);
	pthread_mutex_unlock(&table);
	pthread_mutex_lock(&bin);
	entries--;
	pthread_mutex_unlock(&bin);
}
static void *worker(void *arg)
{
	if (arg)
		at(2); /* one after the other */
	insert();
	take();
	if (!arg)
		at(1);
	return NULL;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, i ? t : NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return entries;
}
