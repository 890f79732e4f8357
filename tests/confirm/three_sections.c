/* confirm: finds settle -- three sections; only the gap between the second and the third matters. */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int limit = 5, used;

static int get_limit(void)
{
	pthread_mutex_lock(&m);
	int v = limit;
	pthread_mutex_unlock(&m);
	return v;
}

static int get_used(void)
{
	pthread_mutex_lock(&m);
	int v = used;
	pthread_mutex_unlock(&m);
	return v;
}

static void set_used(int v)
{
	pthread_mutex_lock(&m);
	used = v;
	pthread_mutex_unlock(&m);
}

static void settle(int by)
{
#ifdef FIXED
	pthread_mutex_lock(&m);
	if (used + by <= limit)
		used += by;
	pthread_mutex_unlock(&m);
#else
	int l = get_limit(), u = get_used();
	if (u + by <= l)
		set_used(u + by);
#endif
}

static void *worker(void *arg)
{
	settle(2);
	return arg;
}

int main(void)
{
	pthread_t t[2];
	if (get_limit() < get_used())
		set_used(0);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
