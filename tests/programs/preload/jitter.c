/*
 * jitter: a library to preload that makes threads wait for random times where
 * they synchronise, so that a program runs in schedules that an idle machine
 * seldom shows. No expectation may depend on them (run.py --jitter).
 *
 * It stands between the runtime and libc: what the runtime calls by RTLD_NEXT
 * is found here first. INTACT_JITTER is the seed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { DONE = 1000 }; /* that often, and no more */
static uint64_t seed, counter;

__attribute__((constructor)) static void start(void)
{
	const char *s = getenv("INTACT_JITTER");
	seed = s ? strtoull(s, NULL, 10) : 1;
	/* The tool that starts the program has it preloaded, too. */
	if (!dlsym(RTLD_DEFAULT, "__tsan_func_entry"))
		counter = DONE;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/*
 * Mostly nothing, often a yield, sometimes some milliseconds. By the seed all
 * threads are alike, or some are slow, or what is slow is how they begin. A
 * program that synchronises a thousand times is left alone after that.
 */
enum { ALIKE, SOME, BEGINNINGS, MANNERS };

static void wait_some(bool begins)
{
	static __thread uint64_t who;
	int keep = errno;
	uint64_t n = __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED);
	uint64_t r = mix(seed * 0x9e3779b97f4a7c15ull + n);
	if (!who)
		who = mix(seed ^ n) | 1;
	unsigned manner = seed % MANNERS;
	bool slow = manner == ALIKE ? r % 8 == 0 : manner == SOME ? who >> 60 < 6 && r % 2 : begins;
	if (n < DONE && slow) {
		struct timespec ts = { 0, (long)(r >> 8) % (begins ? 20000000 : 4000000) };
		/* not by its name: nobody who watches is to see it */
		syscall(SYS_nanosleep, &ts, NULL);
	} else if (n < DONE && r % 8 < 4) {
		sched_yield();
	}
	errno = keep;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define AROUND(type, name, params, args)                                       \
	type name params                                                       \
	{                                                                      \
		static __typeof__(&name) next;                                 \
		if (!next)                                                     \
			next = NEXT(name);                                     \
		wait_some(false);                                                   \
		type r = next args;                                            \
		wait_some(false);                                                   \
		return r;                                                      \
	}

AROUND(int, pthread_mutex_lock, (pthread_mutex_t *m), (m))
AROUND(int, pthread_mutex_unlock, (pthread_mutex_t *m), (m))
AROUND(int, pthread_rwlock_rdlock, (pthread_rwlock_t *l), (l))
AROUND(int, pthread_rwlock_wrlock, (pthread_rwlock_t *l), (l))
AROUND(int, pthread_rwlock_unlock, (pthread_rwlock_t *l), (l))
AROUND(int, pthread_spin_lock, (pthread_spinlock_t *l), (l))
AROUND(int, pthread_spin_unlock, (pthread_spinlock_t *l), (l))
AROUND(int, pthread_join, (pthread_t t, void **v), (t, v))
AROUND(int, sem_wait, (sem_t *s), (s))
AROUND(int, sem_post, (sem_t *s), (s))

struct begin {
	void *(*start)(void *);
	void *arg;
};

/* Named so that it is left out of stacks. */
static void *intact_thread_main(void *arg)
{
	struct begin b = *(struct begin *)arg;
	free(arg);
	wait_some(true);
	return b.start(b.arg);
}

int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *arg)
{
	static __typeof__(&pthread_create) next;
	struct begin *b = malloc(sizeof *b);
	if (!next)
		next = NEXT(pthread_create);
	if (!b)
		return next(t, a, f, arg);
	*b = (struct begin){ f, arg };
	int r = next(t, a, intact_thread_main, b);
	if (r)
		free(b);
	wait_some(false);
	return r;
}
