/* set() looks whether another thread came since get(), and then goes another way: only delays lead there. */
#include "gap.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int count, version, other_way;
static int get(int *v)
{
	pthread_mutex_lock(&m);
	int n = count;
	*v = version;
	pthread_mutex_unlock(&m);
	return n;
}
static void set(int n, int v)
{
	pthread_mutex_lock(&m);
	if (v == version) {
		count = n;
		version++;
	} else {
		other_way++;
	}
	pthread_mutex_unlock(&m);
}
static void add(void)
{
	int v, n = get(&v);
	set(n + 1, v);
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
	pthread_mutex_lock(&m);
	count++;
	version++;
	pthread_mutex_unlock(&m);
}
static void *second(void *arg)
{
	bump();
	at(1);
	while (wait_for_sleep())
		bump();
	return arg;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, first, NULL);
	pthread_create(&b, NULL, second, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("the other way: %d\n", other_way != 0);
	return 0;
}
