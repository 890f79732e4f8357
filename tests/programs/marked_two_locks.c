/* Marked atomic, the two sections are a violation.
 * intact: find count predicted */
#include <intact/annotate.h>
#include <pthread.h>
#include "sched.h"
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int x, y;
static void count(void)
{
	INTACT_ATOMIC("count both"); /* @entered */
	pthread_mutex_lock(&a);
	x++;
	pthread_mutex_unlock(&a); /* @commit */
	pthread_mutex_lock(&b); /* @violation */
	y++;
	pthread_mutex_unlock(&b);
}
static void *worker(void *arg)
{
	if (arg)
		at(2); /* one after the other: no cycle happens */
	count();
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
	return x == 2 && y == 2 ? 0 : 1;
}
