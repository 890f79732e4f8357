/* explore: find assertion
 * explore: says data == 2
 * explore: rare
 * explore: watched
 * Locks, semaphores, conditions and joins with a time limit, and those that only try: what each answers when it cannot have what
 * it asks for, and that the limit has passed then. The bug: a lock that timed out is taken for one that was got. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static sem_t sem, gate;
static int data;

static struct timespec soon(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	t.tv_nsec += 2000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	return t;
}

static int passed(clockid_t clock, const struct timespec *limit)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec > limit->tv_sec || (t.tv_sec == limit->tv_sec && t.tv_nsec >= limit->tv_nsec);
}

/* The call answers `what`, and no earlier than its limit. */
#define TIMES_OUT(clock, call, what)                 \
	do {                                         \
		struct timespec limit = soon(clock); \
		assert((call) == (what));            \
		assert(passed(clock, &limit));       \
	} while (0)

static void mutexes(void)
{
	struct timespec wrong = { 0, 1000000000 };
	pthread_mutexattr_t a;
	pthread_mutex_t again, careful;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&again, &a);
	pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&careful, &a);

	assert(pthread_mutex_trylock(&m) == 0 && pthread_mutex_trylock(&m) == EBUSY);
	TIMES_OUT(CLOCK_REALTIME, pthread_mutex_timedlock(&m, &limit), ETIMEDOUT);
	TIMES_OUT(CLOCK_MONOTONIC, pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &limit), ETIMEDOUT);
	assert(pthread_mutex_timedlock(&m, &wrong) == EINVAL);
	pthread_mutex_unlock(&m);

	struct timespec limit = soon(CLOCK_REALTIME);
	assert(!pthread_mutex_lock(&again) && !pthread_mutex_trylock(&again) && !pthread_mutex_timedlock(&again, &limit));
	assert(!pthread_mutex_unlock(&again) && !pthread_mutex_unlock(&again));
	assert(pthread_mutex_destroy(&again) == EBUSY);
	assert(!pthread_mutex_unlock(&again) && pthread_mutex_unlock(&again) == EPERM && !pthread_mutex_destroy(&again));

	assert(pthread_mutex_unlock(&careful) == EPERM && !pthread_mutex_timedlock(&careful, &limit));
	assert(pthread_mutex_lock(&careful) == EDEADLK && pthread_mutex_timedlock(&careful, &limit) == EDEADLK);
	assert(!pthread_mutex_unlock(&careful) && !pthread_mutex_destroy(&careful));
	pthread_mutexattr_destroy(&a);

	pthread_spinlock_t s;
	pthread_spin_init(&s, PTHREAD_PROCESS_PRIVATE);
	assert(!pthread_spin_trylock(&s) && pthread_spin_trylock(&s) == EBUSY && !pthread_spin_unlock(&s));
	assert(!pthread_spin_lock(&s) && !pthread_spin_unlock(&s) && !pthread_spin_destroy(&s));
}

static void rwlocks(void)
{
	struct timespec wrong = { 0, -1 };
	assert(!pthread_rwlock_rdlock(&rw) && !pthread_rwlock_tryrdlock(&rw) && pthread_rwlock_trywrlock(&rw) == EBUSY);
	TIMES_OUT(CLOCK_REALTIME, pthread_rwlock_timedwrlock(&rw, &limit), ETIMEDOUT);
	TIMES_OUT(CLOCK_MONOTONIC, pthread_rwlock_clockwrlock(&rw, CLOCK_MONOTONIC, &limit), ETIMEDOUT);
	struct timespec limit = soon(CLOCK_REALTIME);
	assert(!pthread_rwlock_timedrdlock(&rw, &limit) && !pthread_rwlock_unlock(&rw));
	assert(!pthread_rwlock_unlock(&rw) && !pthread_rwlock_unlock(&rw));
	assert(!pthread_rwlock_trywrlock(&rw) && pthread_rwlock_tryrdlock(&rw) == EBUSY);
	assert(pthread_rwlock_wrlock(&rw) == EDEADLK && pthread_rwlock_timedrdlock(&rw, &limit) == EDEADLK);
	assert(!pthread_rwlock_unlock(&rw) && pthread_rwlock_timedwrlock(&rw, &wrong) == EINVAL);
	limit = soon(CLOCK_MONOTONIC);
	assert(!pthread_rwlock_clockrdlock(&rw, CLOCK_MONOTONIC, &limit) && !pthread_rwlock_unlock(&rw));
	assert(!pthread_rwlock_destroy(&rw) && !pthread_rwlock_init(&rw, NULL));
}

static void semaphores(void)
{
	int value = -1;
	struct timespec wrong = { 0, 1000000000 };
	assert(!sem_init(&sem, 0, 1) && !sem_trywait(&sem));
	assert(sem_trywait(&sem) == -1 && errno == EAGAIN);
	TIMES_OUT(CLOCK_REALTIME, sem_timedwait(&sem, &limit), -1);
	assert(errno == ETIMEDOUT);
	TIMES_OUT(CLOCK_MONOTONIC, sem_clockwait(&sem, CLOCK_MONOTONIC, &limit), -1);
	assert(errno == ETIMEDOUT);
	assert(sem_timedwait(&sem, &wrong) == -1 && errno == EINVAL);
	assert(!sem_post(&sem) && !sem_post(&sem) && !sem_getvalue(&sem, &value) && value == 2);
	struct timespec limit = soon(CLOCK_REALTIME);
	assert(!sem_timedwait(&sem, &limit) && !sem_wait(&sem) && !sem_destroy(&sem));
}

static void conditions(void)
{
	pthread_cond_t c;
	pthread_condattr_t a;
	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
	pthread_cond_init(&c, &a);
	pthread_condattr_destroy(&a);
	pthread_mutex_lock(&m);
	TIMES_OUT(CLOCK_MONOTONIC, pthread_cond_timedwait(&c, &m, &limit), ETIMEDOUT);
	TIMES_OUT(CLOCK_REALTIME, pthread_cond_clockwait(&c, &m, CLOCK_REALTIME, &limit), ETIMEDOUT);
	pthread_mutex_unlock(&m);
	assert(!pthread_cond_signal(&c) && !pthread_cond_broadcast(&c) && !pthread_cond_destroy(&c));
}

static void *waiter(void *arg)
{
	sem_wait(&gate);
	return arg;
}

static void joins(void)
{
	pthread_t t;
	void *value = NULL;
	sem_init(&gate, 0, 0);
	pthread_create(&t, NULL, waiter, &gate);
	assert(pthread_tryjoin_np(t, &value) == EBUSY && pthread_join(pthread_self(), NULL) == EDEADLK);
	TIMES_OUT(CLOCK_REALTIME, pthread_timedjoin_np(t, &value, &limit), ETIMEDOUT);
	TIMES_OUT(CLOCK_MONOTONIC, pthread_clockjoin_np(t, &value, CLOCK_MONOTONIC, &limit), ETIMEDOUT);
	sem_post(&gate);
	struct timespec limit = soon(CLOCK_REALTIME);
	limit.tv_sec += 3600;
	int r = pthread_timedjoin_np(t, &value, &limit);
	if (r) /* an hour may pass, where time is the scheduler's */
		assert(r == ETIMEDOUT && !pthread_join(t, &value));
	assert(value == &gate);
}

static void *adds(void *arg)
{
	struct timespec limit = soon(CLOCK_REALTIME);
	int r = pthread_mutex_timedlock(&m, &limit);
#ifdef FIXED
	if (r) {
		assert(r == ETIMEDOUT);
		pthread_mutex_lock(&m);
	}
#endif
	int d = data;
	data = d + 1;
#ifndef FIXED
	if (r)
		return arg;
#endif
	pthread_mutex_unlock(&m);
	return arg;
}

int main(void)
{
	pthread_t t, u;
	mutexes();
	rwlocks();
	semaphores();
	conditions();
	joins();
	pthread_create(&t, NULL, adds, NULL);
	pthread_create(&u, NULL, adds, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	assert(data == 2);
	return 0;
}
