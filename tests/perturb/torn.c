/* Two halves of a pair are read in two sections. Others come in only during delays, in more than 2 % of the executions: that
 * makes no busy gap of it. */
#include "gap.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int low, high, torn;
static int get_low(void)
{
	pthread_mutex_lock(&m);
	int v = low;
	pthread_mutex_unlock(&m);
	return v;
}
static int get_high(void)
{
	pthread_mutex_lock(&m);
	int v = high;
	pthread_mutex_unlock(&m);
	return v;
}
static int report(void)
{
	int l = get_low(), h = get_high();
	return l != h;
}
static void *first(void *arg)
{
	begin();
	at(2);
	for (int i = 0; i < 120; i++)
		torn += report();
	over();
	return arg;
}
static void both(void)
{
	pthread_mutex_lock(&m);
	low++;
	high++;
	pthread_mutex_unlock(&m);
}
static void *second(void *arg)
{
	both();
	at(1);
	while (wait_for_sleep())
		both();
	return arg;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, first, NULL);
	pthread_create(&b, NULL, second, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("the other way: %d\n", torn != 0);
	return 0;
}
