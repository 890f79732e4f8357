/* A block that gives up its lock because a try for another one failed, and begins again, has done nothing if it wrote
 * nothing; else the others have seen half of it.
 * explore: find atomicity
 * explore: says block 'transfer' */
#include <intact/annotate.h>
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int x = 50, y = 50, tries;
static void transfer(void)
{
	INTACT_ATOMIC("transfer");
	for (int n = 0; n < 3; n++) {
		pthread_mutex_lock(&a);
		int have = x;
#ifndef FIXED
		tries++;
#endif
		if (pthread_mutex_trylock(&b) == 0) {
			x = have - 1;
			y++;
			pthread_mutex_unlock(&b);
			pthread_mutex_unlock(&a);
			return;
		}
		pthread_mutex_unlock(&a);
	}
}
static void *other(void *arg)
{
	pthread_mutex_lock(&b);
	pthread_mutex_lock(&a);
	x++;
	y -= tries + 1;
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, other, NULL);
	transfer();
	pthread_join(t, NULL);
	return 0;
}
