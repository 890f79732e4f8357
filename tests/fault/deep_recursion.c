/* 200,000 calls deep, taking a lock at the bottom. */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int sink;
static int down(int n)
{
	if (!n) {
		pthread_mutex_lock(&m);
		sink++;
		pthread_mutex_unlock(&m);
		return 0;
	}
	int r = down(n - 1);
	sink++;
	return r + 1;
}
static void *deep(void *arg)
{
	*(int *)arg = down(200000);
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_attr_t a;
	int r = 0;
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 256 << 20);
	pthread_create(&t, &a, deep, &r);
	pthread_join(t, 0);
	return r == 200000 ? 0 : 1;
}
