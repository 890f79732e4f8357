/* Readers of a reader-writer lock do not disturb each other, whatever they do
 * elsewhere; here the other reader counts.
 * intact: none */
#include <intact/annotate.h>
#include <pthread.h>
#include "sched.h"
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static int table[4] = { 1, 2, 3, 4 }, seen;
static int look(int i)
{
	pthread_rwlock_rdlock(&l);
	int v = table[i];
	pthread_rwlock_unlock(&l);
	return v;
}
static int sum(void)
{
	INTACT_ATOMIC("sum");
	int v = look(0);
	at(1);
	at(3);
	return v + look(1);
}
static void *other(void *arg)
{
	while (sched_step < 1)
		sched_yield();
	pthread_rwlock_rdlock(&l);
	seen = table[2];
	pthread_rwlock_unlock(&l);
	at(2);
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, other, NULL);
	int v = sum();
	pthread_join(t, NULL);
	return v == 3 && seen == 3 ? 0 : 1;
}
