/* An instrumented library for dlopen. */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static int get(void)
{
	pthread_mutex_lock(&m);
	int r = x;
	pthread_mutex_unlock(&m);
	return r;
}
static void set(int v)
{
	pthread_mutex_lock(&m);
	x = v;
	pthread_mutex_unlock(&m);
}
void plugin_bump(void);
void plugin_bump(void)
{
	set(get() + 1);
}
