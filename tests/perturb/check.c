/* Looks without the lock whether there is an item, and takes it under the lock: only when another thread takes it in front of
 * the lock is there none left. */
#include "gap.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int items;
static int too_few;
static void put(void)
{
	pthread_mutex_lock(&m);
	items = 1;
	pthread_mutex_unlock(&m);
}
static void take(void)
{
	if (items > 0) {
		pthread_mutex_lock(&m);
		items--;
		pthread_mutex_unlock(&m);
	}
}
static void look(void)
{
	pthread_mutex_lock(&m);
	too_few |= items < 0;
	pthread_mutex_unlock(&m);
}
static void *first(void *arg)
{
	begin();
	at(2);
	for (int i = 0; i < 200; i++) {
		put();
		take();
		look();
	}
	over();
	return arg;
}
static void take_locked(void)
{
	pthread_mutex_lock(&m);
	if (items > 0)
		items--;
	pthread_mutex_unlock(&m);
}
static void *second(void *arg)
{
	take_locked();
	at(1);
	while (wait_for_sleep())
		take_locked();
	return arg;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, first, NULL);
	pthread_create(&b, NULL, second, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("the other way: %d\n", too_few);
	return 0;
}
