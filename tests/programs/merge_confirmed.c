/* One gap met twice: first by thread T1, undisturbed (predicted, as T2 writes
 * under the lock, too), then by T2, with T1 in between. What is confirmed is
 * T2's: T1 is the intruder, and no part of the report is left from before.
 * intact: find add confirmed
 * intact: says Atomic block entered by thread T2
 * intact: says Meanwhile thread T1 wrote under the lock */
#include <pthread.h>
#include "sched.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static volatile int which[2] = { 0, 1 };
static void set(int v)
{
	pthread_mutex_lock(&m);
	n = v;
	pthread_mutex_unlock(&m);
}
static __attribute__((noinline)) void add(int wait)
{ /* @entered */
	pthread_mutex_lock(&m);
	int v = n;
	pthread_mutex_unlock(&m); /* @commit */
	if (wait) {
		at(5);
		at(7);
	}
	pthread_mutex_lock(&m); /* @violation */
	n = v + 1;
	pthread_mutex_unlock(&m);
}
static void *worker(void *arg)
{
	volatile int *second = arg; /* so that compilers make one call of it */
	if (*second) {
		set(10);
		at(1);
		at(4);
	} else {
		at(2);
	}
	add(*second);
	if (!*second) {
		at(3);
		while (sched_step < 5)
			sched_yield();
		set(20);
		at(6);
	}
	return arg;
}
int main(void)
{
	pthread_t t[2];
	pthread_create(&t[0], NULL, worker, (void *)&which[0]);
	pthread_create(&t[1], NULL, worker, (void *)&which[1]);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	return n == 11 ? 0 : 1;
}
