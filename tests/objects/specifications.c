/*
 * Every built-in specification that an object test can name, each with an object under a lock that has it. -DOBJECT=number;
 * -DBROKEN: its calls give the lock away between reading and writing.
 */
#include <intact/test.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define REGISTER               1
#define CAS_REGISTER           2
#define COUNTER                3
#define QUEUE                  4
#define STACK                  5
#define SET                    6
#define MAP                    7
#define PRIORITY_QUEUE         8
#define MUTEX                  9
#define SEMAPHORE              10
#define BOUNDED_QUEUE          11
#define DEQUE                  12
#define RELAXED_QUEUE          13
#define RELAXED_STACK          14
#define RELAXED_PRIORITY_QUEUE 15

struct state {
	long n, v[16]; /* v[0..n), oldest first */
};
static struct state s;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static struct state begin(void)
{
	pthread_mutex_lock(&lock);
	return s;
}

static void away(void)
{
#ifdef BROKEN
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
#endif
}

static long end(const struct state *now, long result)
{
	away();
	if (now)
		s = *now;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return result;
}

__attribute__((unused)) static void put_at(struct state *x, long at, long v)
{
	memmove(x->v + at + 1, x->v + at, (size_t)(x->n++ - at) * sizeof *x->v);
	x->v[at] = v;
}

__attribute__((unused)) static long take_at(struct state *x, long at)
{
	long v = x->v[at];
	memmove(x->v + at, x->v + at + 1, (size_t)(--x->n - at) * sizeof *x->v);
	return v;
}

#define CALL(name) __attribute__((unused)) static long name(void *object, const long *arg)
#define UNUSED     (void)object, (void)arg

#if OBJECT == REGISTER || OBJECT == CAS_REGISTER || OBJECT == COUNTER || OBJECT == MAP
enum { AT = OBJECT == MAP };
CALL(get)
{
	struct state x = begin();
	(void)object;
	return end(NULL, x.v[AT ? arg[0] : 0]);
}
CALL(put)
{
	begin();
	(void)object;
	s.v[AT ? arg[0] : 0] = 0; /* broken: shown to others */
	away();
	s.v[AT ? arg[0] : 0] = arg[AT];
	return end(NULL, INTACT_VOID);
}
CALL(cas)
{
	struct state x = begin();
	bool same = x.v[0] == arg[0];
	(void)object;
	x.v[0] = arg[1];
	return end(same ? &x : NULL, same);
}
CALL(add)
{
	struct state x = begin();
	(void)object;
	x.v[0] += arg[0];
	return end(&x, INTACT_VOID);
}
#elif OBJECT == SET
static long place(const struct state *x, long v)
{
	for (long i = 0; i < x->n; i++)
		if (x->v[i] == v)
			return i;
	return -1;
}
CALL(add)
{
	struct state x = begin();
	bool new = place(&x, arg[0]) < 0;
	(void)object;
	if (new)
		put_at(&x, x.n, arg[0]);
	return end(new ? &x : NULL, new);
}
CALL(del)
{
	struct state x = begin();
	bool there = place(&x, arg[0]) >= 0;
	(void)object;
	if (there)
		take_at(&x, place(&x, arg[0]));
	return end(there ? &x : NULL, there);
}
CALL(contains)
{
	struct state x = begin();
	(void)object;
	return end(NULL, place(&x, arg[0]) >= 0);
}
#elif OBJECT == MUTEX || OBJECT == SEMAPHORE
enum { PERMITS = OBJECT == MUTEX ? 1 : 2 };
CALL(acquire)
{
	struct state x = begin();
	UNUSED;
	while (x.n == PERMITS) {
		pthread_cond_wait(&changed, &lock);
		x = s;
	}
	x.n++;
	return end(&x, INTACT_VOID);
}
CALL(release) /* one that is not held would wait for ever in a history */
{
	struct state x = begin();
	UNUSED;
	while (OBJECT == MUTEX && !x.n) {
		pthread_cond_wait(&changed, &lock);
		x = s;
	}
	x.n--;
	return end(&x, INTACT_VOID);
}
CALL(try_acquire)
{
	struct state x = begin();
	bool free = x.n < PERMITS;
	UNUSED;
	x.n++;
	return end(free ? &x : NULL, free);
}
CALL(left)
{
	struct state x = begin();
	UNUSED;
	return end(NULL, PERMITS - x.n);
}
#else
enum {
	SORTED = OBJECT == PRIORITY_QUEUE || OBJECT == RELAXED_PRIORITY_QUEUE,
	NEWEST = OBJECT == STACK || OBJECT == RELAXED_STACK,
	RELAXED = OBJECT >= RELAXED_QUEUE,
	ROOM = OBJECT == BOUNDED_QUEUE ? 1 : 12
};
CALL(in)
{
	struct state x = begin();
	long at = x.n;
	bool full = x.n == ROOM;
	(void)object;
	while (SORTED && at && x.v[at - 1] > arg[0])
		at--;
	if (!full)
		put_at(&x, at, arg[0]);
	return end(full ? NULL : &x, full ? INTACT_FULL : INTACT_VOID);
}
CALL(out) /* a relaxed one takes the second when it can */
{
	struct state x = begin();
	long next = RELAXED && x.n > 1, v = INTACT_EMPTY;
	UNUSED;
	if (x.n)
		v = take_at(&x, NEWEST ? x.n - 1 - next : next);
	return end(&x, v);
}
CALL(in_front)
{
	struct state x = begin();
	(void)object;
	put_at(&x, 0, arg[0]);
	return end(&x, INTACT_VOID);
}
CALL(out_back)
{
	struct state x = begin();
	long v = INTACT_EMPTY;
	UNUSED;
	if (x.n)
		v = take_at(&x, x.n - 1);
	return end(&x, v);
}
#endif

static void *create(void)
{
	s = (struct state){ 0 };
	return NULL;
}

#define OP(function, word, ...)                                              \
	{                                                                    \
		.name = #function, .as = word, .call = function, __VA_ARGS__ \
	}
#define V .arg = { INTACT_RANGE(1, 2) }
#define U .arg = { INTACT_UNIQUE }

static const struct intact_test test = {
	.name = "named",
	.create = create,
#if OBJECT == REGISTER
	.spec = "register",
	.initial = "0",
	.operations = { OP(get, "read"), OP(put, "write", V) },
#elif OBJECT == CAS_REGISTER
	.spec = "cas-register",
	.initial = "0",
	.operations = { OP(get, "read"),
	                OP(cas, "cas", .arg = { INTACT_RANGE(0, 1), INTACT_RANGE(1, 1) }, .flags = INTACT_BOOLEAN) },
#elif OBJECT == COUNTER
	.spec = "counter",
	.operations = { OP(get, "read"), OP(add, "add", V) },
#elif OBJECT == MAP
	.spec = "kv",
	.initial = "0",
	.operations = { OP(get, "get", .arg = { INTACT_RANGE(0, 1) }),
	                OP(put, "put", .arg = { INTACT_RANGE(0, 1), INTACT_RANGE(1, 1) }) },
#elif OBJECT == SET
	.spec = "set",
	.operations = { OP(add, "add", V), OP(del, "remove", .arg = { INTACT_RANGE(1, 1) }),
	                OP(contains, "contains", .arg = { INTACT_RANGE(1, 1) }) },
#elif OBJECT == MUTEX
	.spec = "mutex",
	.operations = { OP(acquire, "acquire", .flags = INTACT_BLOCKS), OP(release, "release", .flags = INTACT_BLOCKS) },
#elif OBJECT == SEMAPHORE
	.spec = "semaphore",
	.initial = "2",
	.operations = { OP(acquire, "acquire", .flags = INTACT_BLOCKS), OP(release, "release"), OP(try_acquire, "try-acquire"),
	                OP(left, "read") },
#elif OBJECT == DEQUE
	.spec = "deque",
	.operations = { OP(in, "push-back", U), OP(in_front, "push-front", U), OP(out, "pop-front"), OP(out_back, "pop-back") },
#else
	.spec = OBJECT == QUEUE           ? "queue"
	        : OBJECT == STACK         ? "stack"
	        : OBJECT == BOUNDED_QUEUE ? "bounded-queue"
	        : OBJECT == RELAXED_QUEUE ? "relaxed-queue"
	        : OBJECT == RELAXED_STACK ? "relaxed-stack"
	        : RELAXED                 ? "relaxed-priority-queue"
	                                  : "priority-queue",
	.initial = OBJECT == BOUNDED_QUEUE ? "1"
	           : RELAXED               ? "2"
	                                   : NULL,
	.operations = { OP(in,
	                   NEWEST   ? "push"
	                   : SORTED ? "insert"
	                            : "enqueue",
	                   U),
	                OP(out, NEWEST   ? "pop"
	                        : SORTED ? "poll"
	                                 : "dequeue") },
#endif
};
INTACT_TEST_MAIN(test)
