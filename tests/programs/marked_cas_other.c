/* A flag is looked at, then another variable is claimed: the compare-and-swap
 * says nothing of the flag.
 * intact: find enter confirmed */
#include <intact/annotate.h>
#include <pthread.h>
#include <stdatomic.h>
#include "sched.h"
static _Atomic int closed, inside;
static int enter(int wait)
{
	INTACT_ATOMIC("enter"); /* @entered */
	if (atomic_load(&closed)) /* @commit */
		return 0;
	if (wait) {
		at(1);
		at(3);
	}
	int none = 0;
	return atomic_compare_exchange_strong(&inside, &none, 1); /* @violation */
}
static void *other(void *arg)
{
	while (sched_step < 1)
		sched_yield();
	atomic_store(&closed, 1);
	if (!atomic_exchange(&inside, 2)) /* nobody inside, it thinks */
		atomic_store(&inside, 0);
	at(2);
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, other, NULL);
	int in = enter(1);
	pthread_join(t, NULL);
	return in && closed ? 0 : 1;
}
