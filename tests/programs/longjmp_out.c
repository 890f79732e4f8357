/* A jump leaves functions without returning; blame stays right.
 * intact: find increment predicted
 * explore: none -- its threads never overlap */
#include <pthread.h>
#include <setjmp.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static __thread jmp_buf env;
static void jumps(void)
{
	pthread_mutex_lock(&m);
	x += 0;
	pthread_mutex_unlock(&m);
	longjmp(env, 1);
}
static void tries(void)
{
	if (!setjmp(env))
		jumps();
}
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
static void increment(void)
{ /* @entered */
	set(get() + 1);
}
static void *worker(void *arg)
{
	tries();
	increment();
	tries();
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
