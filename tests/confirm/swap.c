/* confirm: finds swap -- both are read, then both are written, in sections of their own. */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int slot[3] = { 1, 2, 3 };

static void read_two(int i, int k, int *a, int *b)
{
	pthread_mutex_lock(&m);
	*a = slot[i];
	*b = slot[k];
	pthread_mutex_unlock(&m);
}

static void write_two(int i, int k, int a, int b)
{
	pthread_mutex_lock(&m);
	slot[i] = a;
	slot[k] = b;
	pthread_mutex_unlock(&m);
}

static void swap(int i, int k)
{
#ifdef FIXED
	pthread_mutex_lock(&m);
	int a = slot[i];
	slot[i] = slot[k];
	slot[k] = a;
	pthread_mutex_unlock(&m);
#else
	int a, b;
	read_two(i, k, &a, &b);
	write_two(i, k, b, a);
#endif
}

static void *first(void *arg)
{
	swap(0, 1);
	return arg;
}

static void *second(void *arg)
{
	swap(1, 2);
	return arg;
}

int main(void)
{
	pthread_t a, b;
	int x, y;
	read_two(0, 1, &x, &y);
	write_two(0, 1, x, y);
	pthread_create(&a, NULL, first, NULL);
	pthread_create(&b, NULL, second, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
