/* confirm: finds enter -- more are let in than there are permits. */
#include <pthread.h>
#include <stdbool.h>

static struct gate {
	pthread_mutex_t m;
	int permits, inside;
} gate = { PTHREAD_MUTEX_INITIALIZER, 2, 0 };

static int left(struct gate *g)
{
	pthread_mutex_lock(&g->m);
	int n = g->permits - g->inside;
	pthread_mutex_unlock(&g->m);
	return n;
}

static bool enter(struct gate *g)
{
#ifdef FIXED
	pthread_mutex_lock(&g->m);
	bool in = g->permits > g->inside;
	g->inside += in;
	pthread_mutex_unlock(&g->m);
	return in;
#else
	if (left(g) <= 0)
		return false;
	pthread_mutex_lock(&g->m);
	g->inside++;
	pthread_mutex_unlock(&g->m);
	return true;
#endif
}

static void *worker(void *arg)
{
	enter(arg);
	return NULL;
}

int main(void)
{
	pthread_t t[3];
	if (left(&gate) != 2)
		return 1;
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, worker, &gate);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
