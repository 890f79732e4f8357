/*
 * Threads that do everything at once to a few shared words: locks, trylocks,
 * reader-writer locks, races, atomics, handing over and freeing memory, marked
 * blocks, threads that come and go. What they do is random, what is found in
 * the run and in its recording must be the same.
 *
 *     storm SEED THREADS STEPS
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <intact/annotate.h>

enum { LOCKS = 4, WORDS = 16 };

static pthread_mutex_t lock[LOCKS];
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static long word[WORDS];
static char bytes[64];
static atomic_long counter;
static _Atomic(long *) box;
static unsigned steps;

static unsigned next(uint64_t *s)
{
	*s = *s * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(*s >> 33);
}

__attribute__((noinline)) static long get(unsigned i)
{
	pthread_mutex_lock(&lock[i % LOCKS]);
	long v = word[i % WORDS];
	pthread_mutex_unlock(&lock[i % LOCKS]);
	return v;
}

__attribute__((noinline)) static void set(unsigned i, long v)
{
	pthread_mutex_lock(&lock[i % LOCKS]);
	word[i % WORDS] = v;
	pthread_mutex_unlock(&lock[i % LOCKS]);
}

__attribute__((noinline)) static void update(unsigned i)
{
	set(i, get(i) + 1);
}

__attribute__((noinline)) static void racy(unsigned i)
{
	pthread_mutex_lock(&lock[0]);
	long v = word[i % WORDS];
	pthread_mutex_unlock(&lock[0]);
	word[(i + 3) % WORDS] += v;
	word[i % WORDS] = v + 1;
}

__attribute__((noinline)) static void shared(unsigned i)
{
	pthread_rwlock_rdlock(&rw);
	long v = word[i % WORDS];
	pthread_rwlock_unlock(&rw);
	pthread_rwlock_wrlock(&rw);
	word[(i + 1) % WORDS] = v;
	pthread_rwlock_unlock(&rw);
}

__attribute__((noinline)) static void marked(unsigned i)
{
	INTACT_BEGIN("storm");
	long v = get(i);
	bytes[i % 64]++;
	if (i % 3)
		set(i + 1, v);
	atomic_fetch_add(&counter, 1);
	INTACT_END();
}

__attribute__((noinline)) static void pass_on(unsigned i)
{
	long *mine = malloc(8 * sizeof *mine);
	for (int k = 0; k < 8; k++)
		mine[k] = (long)i;
	long *old = atomic_exchange(&box, mine);
	if (old && i % 2)
		old[i % 8]++;
	free(old);
}

__attribute__((noinline)) static void try_both(unsigned i)
{
	pthread_mutex_lock(&lock[i % LOCKS]);
	if (!pthread_mutex_trylock(&lock[(i + 1) % LOCKS])) {
		word[i % WORDS]++;
		pthread_mutex_unlock(&lock[(i + 1) % LOCKS]);
	}
	pthread_mutex_unlock(&lock[i % LOCKS]);
}

__attribute__((noinline)) static void deep(unsigned i)
{
	long own[32];
	memset(own, 0, sizeof own);
	if (i % 16)
		deep(i / 2);
	own[i % 32]++;
	update(i);
}

static void *child(void *arg)
{
	update((unsigned)(uintptr_t)arg);
	return NULL;
}

static void *storm(void *arg)
{
	uint64_t s = (uint64_t)(uintptr_t)arg;
	for (unsigned n = 0; n < steps; n++) {
		unsigned i = next(&s);
		switch (next(&s) % 9) {
		case 0: update(i); break;
		case 1: racy(i); break;
		case 2: shared(i); break;
		case 3: marked(i); break;
		case 4: pass_on(i); break;
		case 5: try_both(i); break;
		case 6: deep(i % 64); break;
		case 7: word[i % WORDS]++; break;
		default:
			if (n % 64 == 0) {
				pthread_t t;
				if (!pthread_create(&t, NULL, child, (void *)(uintptr_t)i))
					pthread_join(t, NULL);
			}
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	unsigned n = argc > 2 ? (unsigned)atoi(argv[2]) : 4;
	pthread_t t[64];
	steps = argc > 3 ? (unsigned)atoi(argv[3]) : 1000;
	for (int i = 0; i < LOCKS; i++)
		pthread_mutex_init(&lock[i], NULL);
	for (unsigned i = 0; i < n && i < 64; i++)
		if (pthread_create(&t[i], NULL, storm, (void *)(uintptr_t)(seed * 1000 + i)))
			return 1;
	for (unsigned i = 0; i < n && i < 64; i++)
		pthread_join(t[i], NULL);
	free(atomic_load(&box));
	return 0;
}
