/* A lock that only one thread uses protects nothing from anyone.
 * intact: none */
#include <pthread.h>
#include <stdlib.h>
struct obj {
	pthread_mutex_t m;
	int x;
};
static int get(struct obj *o)
{
	pthread_mutex_lock(&o->m);
	int r = o->x;
	pthread_mutex_unlock(&o->m);
	return r;
}
static void set(struct obj *o, int v)
{
	pthread_mutex_lock(&o->m);
	o->x = v;
	pthread_mutex_unlock(&o->m);
}
static void increment(struct obj *o)
{
	set(o, get(o) + 1);
}
static void *worker(void *arg)
{
	struct obj *o = malloc(sizeof *o);
	pthread_mutex_init(&o->m, NULL);
	o->x = 0;
	for (int i = 0; i < 20; i++)
		increment(o);
	*(int *)arg = o->x;
	pthread_mutex_destroy(&o->m);
	free(o);
	return arg;
}
int main(void)
{
	pthread_t a, b;
	int ra, rb;
	pthread_create(&a, NULL, worker, &ra);
	pthread_create(&b, NULL, worker, &rb);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return ra == 20 && rb == 20 ? 0 : 1;
}
