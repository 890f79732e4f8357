/*
 * Order that shows. Elements of `wheel`, `relay` and `turn` are written in turn,
 * 0, 1, ... 63, 0, 1, ...; those of `mutexed`, `shared` and `handed` once each,
 * in the order of their index, and read only afterwards; memory that is got is
 * written before it is read, once. By whom is left to chance. A trace in which
 * it is otherwise is not what happened. Under mutexes (one thread's for a while,
 * then another's), under a reader-writer lock, handed on by semaphores, in memory
 * that is freed and got again by others.
 *
 *     order SEED THREADS STEPS
 */
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LOCKS = 4, MAX = 1 << 14, WHEEL = 64 };

static pthread_mutex_t lock[LOCKS];
static long mutexed[LOCKS][MAX], wheel[LOCKS][WHEEL], nmutexed[LOCKS], count[LOCKS];
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static long shared[MAX], turn[WHEEL], nshared, nturn;
static sem_t baton;
static long handed[MAX], relay[WHEEL], nhanded, nrelay;
static pthread_mutex_t box_lock = PTHREAD_MUTEX_INITIALIZER;
static long *box, last;
static pthread_barrier_t start;
static unsigned steps;

static unsigned next(uint64_t *s)
{
	*s = *s * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(*s >> 33);
}

static void under_mutex(unsigned k)
{
	pthread_mutex_lock(&lock[k]);
	long i = nmutexed[k];
	if (i < MAX) {
		mutexed[k][i] = i ? mutexed[k][i - 1] + 1 : 1;
		nmutexed[k]++;
	}
	pthread_mutex_unlock(&lock[k]);
}

/* Nothing but what all have touched: the lock alone orders it. */
static void turn_wheel(unsigned k)
{
	pthread_mutex_lock(&lock[k]);
	wheel[k][count[k] % WHEEL] = 1;
	count[k]++;
	pthread_mutex_unlock(&lock[k]);
}

/* Two at once. */
static void under_two(unsigned k)
{
	pthread_mutex_lock(&lock[k]);
	pthread_mutex_lock(&lock[k + 1]);
	for (unsigned n = k; n < k + 2; n++)
		wheel[n][count[n]++ % WHEEL] = 1;
	pthread_mutex_unlock(&lock[k + 1]);
	pthread_mutex_unlock(&lock[k]);
}

static long under_rwlock(unsigned r)
{
	long sum = 0;
	if (r % 4) {
		pthread_rwlock_rdlock(&rw);
		for (unsigned n = 0; n < 4 && nshared; n++)
			sum += shared[(r + n) % (unsigned long)nshared] + turn[(r + n) % WHEEL];
		pthread_rwlock_unlock(&rw);
		return sum;
	}
	pthread_rwlock_wrlock(&rw);
	if (nshared < MAX)
		shared[nshared++] = 1;
	turn[nturn++ % WHEEL] = 1;
	pthread_rwlock_unlock(&rw);
	return 0;
}

static void by_semaphore(void)
{
	sem_wait(&baton);
	if (nhanded < MAX) {
		handed[nhanded] = nhanded ? handed[nhanded - 1] + 1 : 1;
		nhanded++;
	}
	relay[nrelay++ % WHEEL] = 1;
	sem_post(&baton);
}

static long *make(void)
{
	long *mine = malloc(4 * sizeof *mine);
	for (int k = 0; k < 4; k++)
		mine[k] = k;
	return mine;
}

/* Memory goes round: written by one, read, freed and got again by another. */
static void pass_on(unsigned r)
{
	long *mine = make();
	if (r % 3) { /* one that nobody else sees */
		free(mine);
		return;
	}
	pthread_mutex_lock(&box_lock);
	long *old = box;
	box = mine;
	if (old)
		last = old[r % 4];
	pthread_mutex_unlock(&box_lock);
	free(old);
}

static void *run(void *arg)
{
	uint64_t s = (uint64_t)(uintptr_t)arg;
	pthread_barrier_wait(&start);
	for (unsigned n = 0; n < steps; n++) {
		unsigned r = next(&s), k = r % LOCKS;
		switch (next(&s) % 8) {
		case 0: case 1:
			for (unsigned i = 0; i < r % 7; i++)
				turn_wheel(k);
			break;
		case 2: under_mutex(k); break;
		case 3: under_two(k % (LOCKS - 1)); break;
		case 4: under_rwlock(r); break;
		case 5: by_semaphore(); break;
		default: pass_on(r);
		}
		if (r % 8 == 0) /* few cores: so that they take turns */
			sched_yield();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	unsigned n = argc > 2 ? (unsigned)atoi(argv[2]) : 4;
	pthread_t t[64];
	steps = argc > 3 ? (unsigned)atoi(argv[3]) : 1000;
	mallopt(M_ARENA_MAX, 1); /* what one frees another gets */
	for (int i = 0; i < LOCKS; i++)
		pthread_mutex_init(&lock[i], NULL);
	sem_init(&baton, 0, 1);
	n = n < 64 ? n : 64;
	pthread_barrier_init(&start, NULL, n);
	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, run, (void *)(uintptr_t)(seed * 1000 + i)))
			return 1;
	for (unsigned i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	free(box);
	long sum = last; /* so that no element is left out */
	for (int i = 0; i < WHEEL; i++) {
		sum += relay[i] + turn[i];
		for (int k = 0; k < LOCKS; k++)
			sum += wheel[k][i];
	}
	return sum < 0;
}
