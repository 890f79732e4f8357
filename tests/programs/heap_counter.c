/* A counter and its lock on the heap: read in one section, written in the next.
 * intact: find add confirmed */
#include <pthread.h>
#include <stdlib.h>
#include "sched.h"
struct counter {
	pthread_mutex_t m;
	int n, racy;
};
static void add(struct counter *c, int wait)
{ /* @entered */
	pthread_mutex_lock(&c->m);
	int v = c->n;
	pthread_mutex_unlock(&c->m); /* @commit */
	if (wait) {
		at(1);
		at(3);
	}
	pthread_mutex_lock(&c->m); /* @violation */
	c->n = v + 1;
	pthread_mutex_unlock(&c->m);
	if (!wait)
		at(2);
}
static void *other(void *arg)
{
	while (sched_step < 1)
		sched_yield();
	add(arg, 0);
	return arg;
}
int main(void)
{
	pthread_t t;
	struct counter *c = calloc(1, sizeof *c);
	pthread_mutex_init(&c->m, NULL);
	pthread_create(&t, NULL, other, c);
	add(c, 1);
	pthread_join(t, NULL);
	int n = c->n;
	free(c);
	return n == 1 ? 0 : 1;
}
