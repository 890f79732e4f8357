/* Data on the heap without a lock, beside data with one: read and written back.
 * intact: find count confirmed */
#include <pthread.h>
#include <stdlib.h>
#include "sched.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int logged;
static void count(int *n, int wait)
{ /* @entered */
	pthread_mutex_lock(&m);
	logged++;
	pthread_mutex_unlock(&m);
	int v = *n; /* @commit */
	if (wait) {
		at(3);
		at(5);
	}
	*n = v + 1; /* @violation */
}
static void *other(void *arg)
{
	*(int *)arg = 10;
	at(1);
	while (sched_step < 3)
		sched_yield();
	*(int *)arg = 20;
	at(4);
	return arg;
}
int main(void)
{
	pthread_t t;
	int *n = calloc(8, sizeof *n);
	pthread_create(&t, NULL, other, n + 4);
	at(2);
	count(n + 4, 0);
	count(n + 4, 1);
	pthread_join(t, NULL);
	int v = n[4];
	free(n);
	return v == 12 ? 0 : 1;
}
