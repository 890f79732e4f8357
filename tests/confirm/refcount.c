/* confirm: finds get_object -- the object may be given back between the look and the new reference. */
#include <pthread.h>
#include <stdbool.h>

static struct object {
	pthread_mutex_t m;
	int refs;
	bool alive;
} object = { PTHREAD_MUTEX_INITIALIZER, 1, true };

static bool alive(struct object *o)
{
	pthread_mutex_lock(&o->m);
	bool yes = o->refs > 0;
	pthread_mutex_unlock(&o->m);
	return yes;
}

static bool get_object(struct object *o)
{
#ifdef FIXED
	pthread_mutex_lock(&o->m);
	bool yes = o->refs > 0;
	o->refs += yes;
	pthread_mutex_unlock(&o->m);
	return yes;
#else
	if (!alive(o))
		return false;
	pthread_mutex_lock(&o->m);
	o->refs++;
	pthread_mutex_unlock(&o->m);
	return true;
#endif
}

static void put_object(struct object *o)
{
	pthread_mutex_lock(&o->m);
	if (!--o->refs)
		o->alive = false;
	pthread_mutex_unlock(&o->m);
}

static void *reader(void *arg)
{
	if (get_object(arg))
		put_object(arg);
	return NULL;
}

static void *owner(void *arg)
{
	put_object(arg);
	return NULL;
}

int main(void)
{
	pthread_t a, b;
	alive(&object);
	pthread_create(&a, NULL, reader, &object);
	pthread_create(&b, NULL, owner, &object);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
