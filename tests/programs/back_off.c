/* Two locks in any order: a try that fails gives up the first and starts
 * again. Nothing was written before, so nothing is lost.
 * intact: restarts
 * intact: none
 * explore: free exit -- it counts its tries */
#include <intact/annotate.h>
#include <pthread.h>
#include "sched.h"
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int x = 50, y = 50, tries;
static void *other(void *arg)
{
	pthread_mutex_lock(&b);
	at(1);
	at(4);
	y++;
	pthread_mutex_unlock(&b);
	at(5);
	return arg;
}
static void transfer(void)
{
	INTACT_ATOMIC("transfer");
	for (;;) {
		pthread_mutex_lock(&a);
		int have = x;
		if (pthread_mutex_trylock(&b) == 0) {
			x = have - 1;
			y++;
			pthread_mutex_unlock(&b);
			pthread_mutex_unlock(&a);
			return;
		}
		pthread_mutex_unlock(&a);
		tries++;
		at(3);
		at(6);
	}
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, other, NULL);
	at(2);
	transfer();
	pthread_join(t, NULL);
	return x == 49 && y == 52 && tries == 1 ? 0 : 1;
}
