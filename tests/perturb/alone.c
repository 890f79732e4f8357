/* No thread comes into the gap: every delay lasts as long as it may. Which visits are delayed is the seed's choice alone. */
#include "gap.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int count;
static int get(void)
{
	pthread_mutex_lock(&m);
	int n = count;
	pthread_mutex_unlock(&m);
	return n;
}
static void set(int n)
{
	pthread_mutex_lock(&m);
	count = n;
	pthread_mutex_unlock(&m);
}
static void add(void)
{
	set(get() + 1);
}
static void *first(void *arg)
{
	at(2);
	for (int i = 0; i < 500; i++)
		add();
	return arg;
}
static void *second(void *arg)
{
	set(1);
	at(1);
	at(3);
	return arg;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&b, NULL, second, NULL);
	pthread_create(&a, NULL, first, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return count == 501 ? 0 : 1;
}
