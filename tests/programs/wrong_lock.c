/* One counter under two locks: each side holds a lock, not the same one.
 * intact: find add_a confirmed */
#include <pthread.h>
#include "sched.h"
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int n;
static int get(void)
{
	return n; /* @commit */
}
static void set(int v)
{
	n = v; /* @violation */
}
static void add_a(int wait)
{ /* @entered */
	pthread_mutex_lock(&a);
	int v = get();
	if (wait) {
		at(3);
		at(6);
	}
	set(v + 1);
	pthread_mutex_unlock(&a);
}
static void *other(void *arg)
{
	pthread_mutex_lock(&b);
	n = 10;
	pthread_mutex_unlock(&b);
	at(1);
	at(4);
	pthread_mutex_lock(&b);
	n = 20;
	pthread_mutex_unlock(&b);
	at(5);
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, other, NULL);
	at(2);
	add_a(0);
	add_a(1);
	pthread_join(t, NULL);
	return n == 12 ? 0 : 1;
}
