/* Three sections of one function, as in a cache: an item is looked up and its
 * references counted, it is changed by what was read of it, the reference is
 * dropped. Both gaps are there; the one whose data the function goes on to use
 * leads, though the drop is met first (and as often).
 * intact: find bump predicted
 * intact: says Pattern: lost update of 'it
 * intact: says Between line 29 and line 33
 * intact: says Also between line */
#include <pthread.h>
#include "sched.h"
struct item {
	int references, value;
};
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static struct item it;
static void touch(void)
{
	pthread_mutex_lock(&m);
	it.references = 1;
	it.value = 1;
	pthread_mutex_unlock(&m);
}
static void bump(int skip)
{
	int v = 0;
	pthread_mutex_lock(&m);
	it.references++;
	v = it.value;
	pthread_mutex_unlock(&m); /* line 29 */
	if (skip)
		goto drop;

	pthread_mutex_lock(&m); /* line 33 */
	it.value = v + 1;
	pthread_mutex_unlock(&m);
drop:
	pthread_mutex_lock(&m);
	it.references--;
	pthread_mutex_unlock(&m);
}
static void *worker(void *arg)
{
	at(2);
	bump(1);
	bump(0);
	return arg;
}
int main(void)
{
	pthread_t t;
	touch();
	pthread_create(&t, NULL, worker, NULL);
	touch();
	at(1);
	pthread_join(t, NULL);
	return 0;
}
