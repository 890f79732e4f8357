/*
 * Reads that may be left out of a recording, and reads just like them that may
 * not. Two threads take turns by a flag that is not watched, so that nothing
 * orders them for the analyses and their epochs stay; what each must find in the
 * trace stands beside it (run.py checks). Afterwards a thread in the place of
 * two that were, and readers of a lock beside its writers.
 *
 *     reads
 */
#include <intact/annotate.h>
#include <pthread.h>
#include <sched.h>

#define UNWATCHED __attribute__((no_sanitize("thread"), no_instrument_function, noinline))
#define NOINLINE  __attribute__((noinline))

static volatile int turn;

UNWATCHED static void wait_for(int n)
{
	while (turn != n)
		sched_yield();
}

UNWATCHED static void pass(void)
{
	turn = turn + 1;
}

static long racing, guarded, marked, again, behind, before, left, right;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER, order = PTHREAD_RWLOCK_INITIALIZER,
                        late = PTHREAD_RWLOCK_INITIALIZER, halves = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

NOINLINE static void look(const long *p)
{
	(void)*(const volatile long *)p;
}

NOINLINE static void change(long *p)
{
	*(volatile long *)p = 1;
}

/* r of both, r (a second one is left out), w of the other, r. */
static void *racing_a(void *arg)
{
	look(&racing);
	pass(); wait_for(2);
	look(&racing);
	look(&racing);
	pass(); wait_for(4);
	look(&racing);
	pass();
	return arg;
}

static void *racing_b(void *arg)
{
	wait_for(1);
	look(&racing);
	pass(); wait_for(3);
	change(&racing);
	pass(); wait_for(5);
	return arg;
}

/* Written under the lock by both; then read under it while the other writes
 * without: r, w, r. */
static void *guarded_a(void *arg)
{
	pthread_rwlock_wrlock(&rw);
	change(&guarded);
	pthread_rwlock_unlock(&rw);
	pass(); wait_for(2);
	pthread_rwlock_rdlock(&rw);
	look(&guarded);
	look(&guarded);
	pass(); wait_for(4);
	look(&guarded);
	pthread_rwlock_unlock(&rw);
	pass();
	return arg;
}

static void *guarded_b(void *arg)
{
	wait_for(1);
	pthread_rwlock_wrlock(&rw);
	change(&guarded);
	pthread_rwlock_unlock(&rw);
	pass(); wait_for(3);
	change(&guarded);
	pass(); wait_for(5);
	return arg;
}

/* Read by both; and once more by one while the other is in a block. */
static void *marked_a(void *arg)
{
	look(&marked);
	pass(); wait_for(2);
	look(&marked);
	pass(); wait_for(4);
	look(&marked);
	pass();
	return arg;
}

static void *marked_b(void *arg)
{
	wait_for(1);
	look(&marked);
	pass(); wait_for(3);
	INTACT_BEGIN("block");
	look(&marked);
	pass(); wait_for(5);
	INTACT_END();
	return arg;
}

/* Each read is in an epoch of its own. */
static void *again_run(void *arg)
{
	wait_for(1);
	for (long i = 0; i < (long)arg; i++) {
		look(&again);
		pthread_mutex_lock(&own);
		look(&again);
		pthread_mutex_unlock(&own);
	}
	return NULL;
}

static void *again_short(void *arg)
{
	look(&again);
	pass();
	return arg;
}

/* Readers, a writer, readers: nothing but the lock says so. */
static void *order_a(void *arg)
{
	pthread_rwlock_rdlock(&order);
	pthread_rwlock_unlock(&order);
	pass(); wait_for(2);
	pthread_rwlock_rdlock(&order);
	look(&before);
	pthread_rwlock_unlock(&order);
	pass(); wait_for(4);
	pass();
	return arg;
}

static void *order_b(void *arg)
{
	wait_for(1);
	pthread_rwlock_rdlock(&order);
	pthread_rwlock_unlock(&order);
	pass(); wait_for(3);
	pthread_rwlock_wrlock(&order);
	pthread_rwlock_unlock(&order);
	look(&behind);
	pass(); wait_for(5);
	return arg;
}

static void *late_a(void *arg)
{
	pthread_rwlock_rdlock(&late);
	pthread_rwlock_unlock(&late);
	pass(); wait_for(2);
	pthread_rwlock_rdlock(&late);
	pthread_rwlock_unlock(&late);
	return arg;
}

static void *late_b(void *arg)
{
	wait_for(1);
	pthread_rwlock_wrlock(&late);
	pthread_rwlock_unlock(&late);
	pthread_rwlock_wrlock(&late);
	pthread_rwlock_unlock(&late);
	pass(); wait_for(3);
	return arg;
}

/* Of two readers of a pair that is written in two sections, the one that came
 * first is told of: it began second. */
static void *pair_a(void *arg)
{
	wait_for(1);
	pthread_rwlock_rdlock(&halves);
	look(&right);
	pthread_rwlock_unlock(&halves);
	pass(); wait_for(3);
	return arg;
}

static void *pair_b(void *arg)
{
	pthread_rwlock_rdlock(&halves);
	look(&left);
	pthread_rwlock_unlock(&halves);
	pass(); wait_for(3);
	return arg;
}

NOINLINE static void write_both(void)
{
	pthread_rwlock_wrlock(&halves);
	change(&left);
	pthread_rwlock_unlock(&halves);
	pthread_rwlock_wrlock(&halves);
	change(&right);
	pthread_rwlock_unlock(&halves);
}

static void two(void *(*a)(void *), void *(*b)(void *))
{
	pthread_t x, y;
	turn = 0;
	if (pthread_create(&x, NULL, a, NULL) || pthread_create(&y, NULL, b, NULL))
		return;
	if (a == pair_a) {
		wait_for(2);
		write_both();
		pass();
	}
	pthread_join(x, NULL);
	if (a == late_a)
		pass();
	pthread_join(y, NULL);
}

int main(void)
{
	pthread_t a, b, c;
	two(racing_a, racing_b);
	two(guarded_a, guarded_b);
	two(marked_a, marked_b);
	two(order_a, order_b);
	two(late_a, late_b);
	two(pair_a, pair_b);
	turn = 0;
	/* The third gets the slot of the first, and what is kept of the second. */
	if (pthread_create(&a, NULL, again_short, NULL) ||
	    pthread_create(&b, NULL, again_run, (void *)10))
		return 1;
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	if (pthread_create(&c, NULL, again_run, (void *)100))
		return 1;
	pthread_join(c, NULL);
	return 0;
}
