/*
 * A cache with one entry that is counted by its users: acquire takes a reference (or makes the entry), release gives it back, and
 * the last one frees the entry. With -DBROKEN acquire adds a reference to an entry whose count may have just become zero.
 */
#include <intact/test.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct entry {
	_Atomic int users;
	long value;
};

struct cache {
	struct entry *_Atomic entry;
	pthread_mutex_t lock;
};

static void *create(void)
{
	struct cache *c = calloc(1, sizeof *c);
	pthread_mutex_init(&c->lock, NULL);
	return c;
}

static void destroy(void *object)
{
	struct cache *c = object;
	free(atomic_load(&c->entry));
	free(c);
}

static struct entry *acquire(struct cache *c)
{
	pthread_mutex_lock(&c->lock);
	struct entry *e = atomic_load(&c->entry);
	if (e) {
#ifdef BROKEN
		pthread_mutex_unlock(&c->lock);
		atomic_fetch_add(&e->users, 1);
		return e;
#else
		atomic_fetch_add(&e->users, 1);
#endif
	} else {
		e = calloc(1, sizeof *e);
		atomic_store(&e->users, 1);
		e->value = 7;
		atomic_store(&c->entry, e);
	}
	pthread_mutex_unlock(&c->lock);
	return e;
}

static void release(struct cache *c, struct entry *e)
{
	pthread_mutex_lock(&c->lock);
	int last = atomic_fetch_sub(&e->users, 1) == 1;
	if (last)
		atomic_store(&c->entry, NULL);
	pthread_mutex_unlock(&c->lock);
	if (last)
		free(e);
}

/* Uses the entry for a while. */
static long use(void *object, const long *arg)
{
	struct cache *c = object;
	struct entry *e = acquire(c);
	long value = e->value;
	(void)arg;
	release(c, e);
	return value;
}

static long is_cached(void *object, const long *arg)
{
	struct cache *c = object;
	(void)arg;
	return atomic_load(&c->entry) != NULL;
}

static const struct intact_test cache = {
	.name = "refcount-cache",
	.create = create,
	.destroy = destroy,
	.after = { { "is_cached", { 0 } } },
	/* is_cached is for the end: no thread calls it */
	.operations = { INTACT_OPERATION(use), INTACT_OPERATION(is_cached, .flags = INTACT_BOOLEAN, .threads = INTACT_THREAD(32)) },
};
INTACT_TEST_MAIN(cache)
