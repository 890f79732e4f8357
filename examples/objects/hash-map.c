/*
 * A hash map in segments, each with a lock, like the first ConcurrentHashMap of Java. With -DBROKEN put_if_absent looks
 * first and locks the segment again to insert: two threads can both find nothing and both insert.
 */
#include <intact/test.h>
#include <pthread.h>
#include <stdlib.h>

enum { SEGMENTS = 2, ENTRIES = 8 };

struct map {
	struct segment {
		pthread_mutex_t lock;
		int n;
		struct {
			long key, value;
		} entry[ENTRIES];
	} segment[SEGMENTS];
};

static void *create(void)
{
	struct map *m = calloc(1, sizeof *m);
	for (int i = 0; i < SEGMENTS; i++)
		pthread_mutex_init(&m->segment[i].lock, NULL);
	return m;
}

static long look(struct segment *s, long key)
{
	for (int i = 0; i < s->n; i++)
		if (s->entry[i].key == key)
			return s->entry[i].value;
	return INTACT_EMPTY;
}

static void insert(struct segment *s, long key, long value)
{
	s->entry[s->n].key = key;
	s->entry[s->n++].value = value;
}

/* Returns the value that was there. */
static long put_if_absent(void *object, const long *arg)
{
	struct segment *s = &((struct map *)object)->segment[arg[0] % SEGMENTS];
	pthread_mutex_lock(&s->lock);
	long old = look(s, arg[0]);
#ifdef BROKEN
	pthread_mutex_unlock(&s->lock);
	pthread_mutex_lock(&s->lock);
#endif
	if (old == INTACT_EMPTY)
		insert(s, arg[0], arg[1]);
	pthread_mutex_unlock(&s->lock);
	return old;
}

static long get(void *object, const long *arg)
{
	struct segment *s = &((struct map *)object)->segment[arg[0] % SEGMENTS];
	pthread_mutex_lock(&s->lock);
	long value = look(s, arg[0]);
	pthread_mutex_unlock(&s->lock);
	return value;
}

/* Of all segments at the same time. */
static long size(void *object, const long *arg)
{
	struct map *m = object;
	long n = 0;
	(void)arg;
	for (int i = 0; i < SEGMENTS; i++)
		pthread_mutex_lock(&m->segment[i].lock);
	for (int i = 0; i < SEGMENTS; i++)
		n += m->segment[i].n;
	for (int i = SEGMENTS; i-- > 0;)
		pthread_mutex_unlock(&m->segment[i].lock);
	return n;
}

static const struct intact_test map = {
	.name = "hash-map",
	.create = create,
	.destroy = free,
	.operations = {
		INTACT_OPERATION(put_if_absent, .arg = { INTACT_RANGE(1, 2), INTACT_UNIQUE }),
		INTACT_OPERATION(get, .arg = { INTACT_RANGE(1, 2) }),
		INTACT_OPERATION(size),
	},
};
INTACT_TEST_MAIN(map)
