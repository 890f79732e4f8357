/* The other thread's update falls into the gap, and is lost.
 * intact: find deposit confirmed */
#include <pthread.h>
#include "sched.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int balance;
static int get(void)
{
	pthread_mutex_lock(&m);
	int r = balance;
	pthread_mutex_unlock(&m); /* @commit */
	return r;
}
static void set(int v)
{
	pthread_mutex_lock(&m); /* @violation */
	balance = v;
	pthread_mutex_unlock(&m);
}
static void deposit(int n)
{ /* @entered */
	int r = get();
	if (n == 1) {
		at(1); /* has read */
		at(3); /* after the other's whole deposit */
	}
	set(r + n);
}
static void *one(void *arg)
{
	deposit(1);
	return arg;
}
static void *two(void *arg)
{
	while (sched_step < 1)
		sched_yield();
	deposit(2);
	at(2);
	return arg;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, one, NULL);
	pthread_create(&b, NULL, two, NULL);
	pthread_join(b, NULL);
	pthread_join(a, NULL);
	return balance == 1 ? 0 : 1; /* the deposit of 2 is gone */
}
