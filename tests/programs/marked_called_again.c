/* A marked function whose exit hook is jumped to (clang -O2: nothing follows it)
 * ends there, though the stack pointer is its caller's again: called twice, with
 * another thread in between, it is two blocks.
 * intact: none */
#include <intact/annotate.h>
#include <pthread.h>
#include "sched.h"
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static long x, y, z;
INTACT_ATOMIC_FUNCTION static void count(long *p, long *q, long *r, long n)
{
	pthread_mutex_lock(&a);
	*p += n;
	*q += *p + n;
	*r += *q + *p;
	pthread_mutex_unlock(&a);
}
static void *worker(void *arg)
{
	at(2);
	count(&x, &y, &z, 3);
	at(3);
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, worker, NULL);
	count(&x, &y, &z, 1);
	at(1);
	at(4);
	count(&x, &y, &z, 2);
	pthread_join(t, NULL);
	return x == 6 ? 0 : 1;
}
