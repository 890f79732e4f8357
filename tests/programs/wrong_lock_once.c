/* One counter under two locks, and the other thread uses it only once, before:
 * where it did so was not kept, as it was the only user then. It has a name
 * all the same.
 * intact: find add_a predicted
 * intact: says Meanwhile thread T1 can write the same data
 * intact: says thread T1 can write it */
#include <pthread.h>
#include "sched.h"
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int n, other_work;
static int get(void)
{
	return n; /* @commit */
}
static void set(int v)
{
	n = v; /* @violation */
}
static void add_a(void)
{ /* @entered */
	pthread_mutex_lock(&a);
	other_work++;
	pthread_mutex_unlock(&a);
	int v = get();
	set(v + 1);
}
static void *other(void *arg)
{
	pthread_mutex_lock(&b);
	n = n + 1;
	pthread_mutex_unlock(&b);
	at(1);
	at(4);
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, other, NULL);
	at(2);
	add_a();
	at(3);
	pthread_join(t, NULL);
	return n == 2 ? 0 : 1;
}
