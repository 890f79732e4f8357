/* explore: find misuse
 * explore: says freed
 * The object goes away while its lock is being given back. */
#include <pthread.h>
#include <stdlib.h>

struct object {
	pthread_mutex_t m;
	int done;
};

static void *worker(void *arg)
{
	struct object *o = arg;
	pthread_mutex_lock(&o->m);
	o->done = 1;
	pthread_mutex_unlock(&o->m);
	return NULL;
}

int main(void)
{
	struct object *o = malloc(sizeof *o);
	pthread_mutex_init(&o->m, NULL);
	o->done = 0;
	pthread_t t;
	pthread_create(&t, NULL, worker, o);
#ifdef FIXED
	pthread_join(t, NULL);
	pthread_mutex_destroy(&o->m);
	free(o);
#else
	free(o);
	pthread_join(t, NULL);
#endif
	return 0;
}
