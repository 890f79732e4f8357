/* Read and written without a lock: an update is lost only when another thread writes in between, which delays alone make it do. */
#include "gap.h"
static volatile int count;
static void add(void)
{
	int n = count;
	count = n + 1;
}
static void *first(void *arg)
{
	begin();
	at(2);
	for (int i = 0; i < 200; i++)
		add();
	over();
	return arg;
}
static void bump(void)
{
	int n = count;
	count = n + 1000;
}
static void *second(void *arg)
{
	int came = 0;
	bump();
	at(1);
	for (; wait_for_sleep(); came++)
		bump();
	*(int *)arg = came;
	return NULL;
}
int main(void)
{
	pthread_t a, b;
	int came = 0;
	pthread_create(&a, NULL, first, NULL);
	pthread_create(&b, NULL, second, &came);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("the other way: %d\n", came && count < 1000 * (came + 1) + 200);
	return 0;
}
