/* A marked block gives up a lock and goes on with an atomic: the report names
 * the lock it let go.
 * intact: find used any
 * intact: says commits at lock release of M1 ('m')
 * intact: says violation at atomic access to 'bytes' */
#include <intact/annotate.h>
#include <pthread.h>
#include <stdatomic.h>
#include "sched.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int bytes;
static int jobs;
static void used(int n)
{
	INTACT_ATOMIC("used"); /* @entered */
	pthread_mutex_lock(&m);
	jobs++;
	pthread_mutex_unlock(&m); /* @commit */
	atomic_fetch_add(&bytes, n); /* @violation */
}
static void *worker(void *arg)
{
	at(1);
	used(1);
	at(2);
	at(5);
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, worker, NULL);
	at(3);
	used(2);
	used(3);
	at(4);
	pthread_join(t, NULL);
	return jobs == 3 && bytes == 6 ? 0 : 1;
}
