/* The function at fault is named, not those around it.
 * intact: find inner predicted
 * explore: none -- its threads never overlap */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static int get(void)
{
	pthread_mutex_lock(&m);
	int r = x;
	pthread_mutex_unlock(&m); /* @commit */
	return r;
}
static void set(int v)
{
	pthread_mutex_lock(&m); /* @violation */
	x = v;
	pthread_mutex_unlock(&m);
}
static void inner(void)
{ /* @entered */
	set(get() + 1);
}
static void middle(void)
{
	inner();
}
static void outer(void)
{
	middle();
}
static void *worker(void *arg)
{
	outer();
	return arg;
}
int main(void)
{
	pthread_t t;
	for (int i = 0; i < 2; i++) {
		pthread_create(&t, NULL, worker, NULL);
		pthread_join(t, NULL);
	}
	return x == 2 ? 0 : 1;
}
