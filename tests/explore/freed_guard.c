/* explore: find misuse
 * explore: says use of a mutex in freed memory
 * explore: option --races=no
 * The mutex of an object is taken by a thread that found the object, while another thread takes the object away and frees it: the order of
 * the lock and the free is that of no other two steps. Fixed: who takes it away waits until nobody has it. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

struct object {
	pthread_mutex_t guard;
};

static _Atomic(struct object *) shared;
static atomic_int users;

static void *worker(void *arg)
{
#ifdef FIXED
	atomic_fetch_add(&users, 1);
#endif
	struct object *o = atomic_load(&shared);
	if (o) {
		pthread_mutex_lock(&o->guard);
		pthread_mutex_unlock(&o->guard);
	}
#ifdef FIXED
	atomic_fetch_sub(&users, 1);
#endif
	return arg;
}

int main(void)
{
	struct object *o = malloc(sizeof *o);
	pthread_mutex_init(&o->guard, NULL);
	atomic_init(&shared, o);
	pthread_t t;
	pthread_create(&t, NULL, worker, NULL);
	struct object *mine = atomic_exchange(&shared, NULL);
#ifdef FIXED
	while (atomic_load(&users))
		sched_yield();
#endif
	free(mine);
	pthread_join(t, NULL);
	return 0;
}
