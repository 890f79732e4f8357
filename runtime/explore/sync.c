/*
 * sync: what mutexes, read-write locks, conditions, semaphores, barriers, once
 * and futexes do under exploration. State is in the objects' table; the
 * program's memory keeps what libc's init functions put there, of which the
 * kind of a mutex is read.
 *
 * Waiting with a time limit: the operation is always possible; a thread that is
 * chosen before its condition holds has timed out, and its virtual time is at the
 * limit.
 *
 * What POSIX leaves undefined (releasing a lock that is not held, waiting on a
 * condition without the mutex) ends the run as a misuse.
 */
#include <errno.h>
#include <linux/futex.h>
#include <semaphore.h>

#include "runtime/explore/explorer.h"

enum { KIND_RECURSIVE = 1, KIND_ERRORCHECK = 2, KIND_ROBUST = 16 };

static NOINLINE _Noreturn void misuse(uintptr_t obj, uintptr_t pc, const char *text)
{
	X.end_pc = pc;
	X.end_addr = obj;
	x_fail(CONTROL_MISUSE, "%s", text);
}

/* CLOCK_REALTIME of virtual time begins in November 2023. */
#define EPOCH 1700000000000000000ull

uint64_t x_deadline(clockid_t clock, const struct timespec *ts)
{
	uint64_t at = (uint64_t)ts->tv_sec * 1000000000ull + (uint64_t)ts->tv_nsec;
	if (clock != CLOCK_REALTIME)
		return at;
	return at > EPOCH ? at - EPOCH : 0;
}

static void timed_out(uint64_t deadline)
{
	struct x_thread *t = x_me();
	if (t->now < deadline)
		t->now = deadline;
}

/* ---- mutexes and spin locks ---- */

static void take(struct x_object *o)
{
	x_effect();
	x_me()->backing_off = false;
	o->owner = (int16_t)X.current;
	o->count = 1;
	X.held[X.current]++;
	if (unlikely(X.logging))
		x_log_lock(o->at, true, false);
	x_acquire(&o->clock);
	x_changed(o);
}

static void give(struct x_object *o)
{
	if (o->owner >= 0)
		X.held[o->owner]--;
	if (unlikely(X.logging))
		x_log_lock(o->at, false, false);
	o->owner = -1;
	o->count = 0;
	x_release(&o->clock);
	x_changed(o);
}

/* A try did not get its lock: a block that gives up others for it starts over. */
static void try_failed(void)
{
	x_result(SCHED_RES_FAILED, 0);
	x_me()->backing_off = true;
}

/* A lock was released. */
static inline void backs_off(void)
{
	if (unlikely(X.logging) && x_me()->backing_off)
		x_block_waits();
}

static unsigned kind_of(const pthread_mutex_t *m)
{
	return (unsigned)m->__data.__kind;
}

static int taken(struct x_object *o, unsigned kind)
{
	if (o->owner == (int)X.current) {
		o->count++;
		return 0;
	}
	take(o);
	if (unlikely(o->flags & XO_LOST))
		return ENOTRECOVERABLE;
	if (unlikely(o->flags & XO_DEAD_OWNER) && kind & KIND_ROBUST)
		return EOWNERDEAD;
	return 0;
}

int x_mutex_lock(pthread_mutex_t *m, uintptr_t pc)
{
	struct x_object *o = x_object((uintptr_t)m, XO_MUTEX, pc);
	unsigned kind = kind_of(m);
	if ((kind & 3) == KIND_ERRORCHECK && o->owner == (int)X.current)
		return EDEADLK;
	if (unlikely(x_must_not_wait())) {
		int r = x_mutex_trylock(m, pc);
		if (r == EBUSY)
			x_progress_waits();
		return r;
	}
	x_me()->recursive = (kind & 3) == KIND_RECURSIVE;
	x_point(SCHED_LOCK, o, (uintptr_t)m, 0, 0, 0, pc);
	return taken(o, kind);
}

int x_mutex_trylock(pthread_mutex_t *m, uintptr_t pc)
{
	struct x_object *o = x_object((uintptr_t)m, XO_MUTEX, pc);
	unsigned kind = kind_of(m);
	x_point(SCHED_TRYLOCK, NULL, (uintptr_t)m, 0, 0, 0, pc);
	if (o->owner >= 0 && !(o->owner == (int)X.current && (kind & 3) == KIND_RECURSIVE)) {
		try_failed();
		return EBUSY;
	}
	x_result(0, 0);
	return taken(o, kind);
}

int x_mutex_timedlock(pthread_mutex_t *m, clockid_t clock, const struct timespec *ts, uintptr_t pc)
{
	struct x_object *o = x_object((uintptr_t)m, XO_MUTEX, pc);
	unsigned kind = kind_of(m);
	if (ts->tv_nsec < 0 || ts->tv_nsec >= 1000000000)
		return EINVAL;
	if ((kind & 3) == KIND_ERRORCHECK && o->owner == (int)X.current)
		return EDEADLK;
	x_point(SCHED_TRYLOCK, NULL, (uintptr_t)m, 0, 0, SCHED_TIMED, pc);
	if (o->owner >= 0 && !(o->owner == (int)X.current && (kind & 3) == KIND_RECURSIVE)) {
		try_failed();
		timed_out(x_deadline(clock, ts));
		return ETIMEDOUT;
	}
	x_result(0, 0);
	return taken(o, kind);
}

int x_mutex_unlock(pthread_mutex_t *m, uintptr_t pc)
{
	struct x_object *o = x_object((uintptr_t)m, XO_MUTEX, pc);
	x_point(SCHED_UNLOCK, NULL, (uintptr_t)m, 0, 0, 0, pc);
	if (o->owner != (int)X.current) {
		if (kind_of(m) & 3)
			return EPERM;
		misuse((uintptr_t)m, pc,
		       o->owner < 0 ? "unlock of a mutex that is not locked" : "unlock of a mutex that another thread holds");
	}
	if (--o->count)
		return 0;
	if (unlikely(o->flags & XO_DEAD_OWNER)) { /* not made consistent */
		o->flags &= (uint8_t)~XO_DEAD_OWNER;
		o->flags |= XO_LOST;
	}
	give(o);
	backs_off();
	return 0;
}

int x_mutex_consistent(pthread_mutex_t *m, uintptr_t pc)
{
	struct x_object *o = x_object((uintptr_t)m, XO_MUTEX, pc);
	if (!(o->flags & XO_DEAD_OWNER) || o->owner != (int)X.current)
		return EINVAL;
	o->flags &= (uint8_t)~XO_DEAD_OWNER;
	return 0;
}

/* A thread has ended: robust mutexes that it held become free (EOWNERDEAD). */
void x_owner_died(uint32_t thread)
{
	for (uint32_t i = 0; i < X_OBJECTS; i++) {
		struct x_object *o = &X.object[i];
		if (o->run != X.run || o->kind != XO_MUTEX || o->owner != (int)thread || o->flags)
			continue;
		if (kind_of((pthread_mutex_t *)o->at) & KIND_ROBUST) {
			o->flags |= XO_DEAD_OWNER;
			give(o);
		}
	}
}

int x_spin_lock(const void *s, uintptr_t pc)
{
	struct x_object *o = x_object((uintptr_t)s, XO_SPIN, pc);
	x_me()->recursive = false;
	if (unlikely(x_must_not_wait())) {
		if (x_spin_trylock(s, pc))
			x_progress_waits();
		return 0;
	}
	x_point(SCHED_LOCK, o, (uintptr_t)s, 0, 0, 0, pc);
	take(o);
	return 0;
}

int x_spin_trylock(const void *s, uintptr_t pc)
{
	struct x_object *o = x_object((uintptr_t)s, XO_SPIN, pc);
	x_point(SCHED_TRYLOCK, NULL, (uintptr_t)s, 0, 0, 0, pc);
	if (o->owner >= 0) {
		try_failed();
		return EBUSY;
	}
	x_result(0, 0);
	take(o);
	return 0;
}

int x_spin_unlock(const void *s, uintptr_t pc)
{
	struct x_object *o = x_object((uintptr_t)s, XO_SPIN, pc);
	x_point(SCHED_UNLOCK, NULL, (uintptr_t)s, 0, 0, 0, pc);
	if (o->owner < 0)
		misuse((uintptr_t)s, pc, "unlock of a spin lock that is not locked");
	give(o);
	backs_off();
	return 0;
}

/* ---- read-write locks: `count` readers, or an owner ---- */

static int rw_failed(const struct timespec *ts, clockid_t clock)
{
	try_failed();
	if (!ts)
		return EBUSY;
	timed_out(x_deadline(clock, ts));
	return ETIMEDOUT;
}

int x_rwlock_take(pthread_rwlock_t *l, bool read, bool try, const struct timespec *ts, clockid_t clock, uintptr_t pc)
{
	struct x_object *o = x_object((uintptr_t)l, XO_RWLOCK, pc);
	if (!try && o->owner == (int)X.current)
		return EDEADLK;
	if (ts && (ts->tv_nsec < 0 || ts->tv_nsec >= 1000000000))
		return EINVAL;
	if (!try && unlikely(x_must_not_wait())) {
		int r = x_rwlock_take(l, read, true, NULL, clock, pc);
		if (r == EBUSY)
			x_progress_waits();
		return r;
	}
	if (try || ts) {
		x_point(read ? SCHED_TRYRD : SCHED_TRYWR, NULL, (uintptr_t)l, 0, 0, ts ? SCHED_TIMED : 0, pc);
		if (o->owner >= 0 || (!read && o->count))
			return rw_failed(ts, clock);
		x_result(0, 0);
		x_effect();
	} else {
		x_point(read ? SCHED_RDLOCK : SCHED_WRLOCK, o, (uintptr_t)l, 0, 0, 0, pc);
	}
	x_me()->backing_off = false;
	if (read)
		o->count++;
	else
		o->owner = (int16_t)X.current;
	if (unlikely(X.logging))
		x_log_lock(o->at, true, read);
	x_acquire(&o->clock);
	x_changed(o);
	return 0;
}

int x_rwlock_unlock(pthread_rwlock_t *l, uintptr_t pc)
{
	struct x_object *o = x_object((uintptr_t)l, XO_RWLOCK, pc);
	bool write = o->owner == (int)X.current;
	x_point(write ? SCHED_WRUNLOCK : SCHED_RDUNLOCK, NULL, (uintptr_t)l, 0, 0, 0, pc);
	if (!write && (o->owner >= 0 || !o->count))
		misuse((uintptr_t)l, pc, "unlock of a read-write lock that the thread does not hold");
	if (unlikely(X.logging))
		x_log_lock(o->at, false, !write);
	if (write) {
		o->owner = -1;
		x_release(&o->clock);
	} else {
		o->count--;
		x_release_join(&o->clock);
	}
	x_changed(o);
	backs_off();
	return 0;
}

/* ---- conditions ---- */

int x_cond_wait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock, const struct timespec *ts, uintptr_t pc)
{
	struct x_object *co = x_object((uintptr_t)c, XO_COND, pc), *mo = x_object((uintptr_t)m, XO_MUTEX, pc);
	struct x_thread *t = x_me();
	if (ts && (ts->tv_nsec < 0 || ts->tv_nsec >= 1000000000))
		return EINVAL;
	if (mo->owner != (int)X.current)
		misuse((uintptr_t)m, pc, "wait on a condition variable with a mutex that the thread does not hold");
	x_cancel_point();
	x_point(SCHED_COND_WAIT, NULL, (uintptr_t)c, (uintptr_t)m, 0, 0, pc);
	uint32_t depth = mo->count;
	x_sleep_in(co);
	give(mo);
	if (unlikely(X.logging))
		x_block_waits();
	t->timed = ts || X.ctl->spurious;
	x_point(SCHED_COND_WAKE, t->timed ? mo : NULL, (uintptr_t)c, (uintptr_t)m, 0,
	        ts                ? SCHED_TIMED
	        : X.ctl->spurious ? SCHED_SPURIOUS
	                          : 0,
	        pc);
	t->timed = false;
	take(mo);
	mo->count = depth;
	if (t->signalled) {
		x_result(0, 0);
		x_cancel_point();
		x_acquire(&co->clock);
		return 0;
	}
	x_result(SCHED_RES_TIMEOUT, 0);
	x_leave_sleep(co, X.current);
	if (!ts)
		return 0; /* for no reason, as POSIX allows */
	timed_out(x_deadline(clock, ts));
	return ETIMEDOUT;
}

int x_cond_wake(pthread_cond_t *c, bool all, uintptr_t pc)
{
	struct x_object *co = x_object((uintptr_t)c, XO_COND, pc);
	x_point(all ? SCHED_COND_BROADCAST : SCHED_COND_SIGNAL, NULL, (uintptr_t)c, 0, 0, 0, pc);
	if (!co->nsleep)
		return 0;
	x_release_join(&co->clock);
	uint32_t n = all ? co->nsleep : 1;
	uint32_t which = all || co->nsleep == 1 ? 0 : sched_choose(X.sched, co->nsleep);
	while (n--) {
		struct x_thread *t = x_wake(co, which);
		x_pends(t, x_object(t->op->b, XO_MUTEX, pc));
	}
	return 0;
}

/* ---- semaphores: `count` is the value, `need` says that it is known ---- */

static struct x_object *semaphore(void *s, uintptr_t pc)
{
	struct x_object *o = x_object((uintptr_t)s, XO_SEM, pc);
	if (unlikely(!o->need)) {
		int value = 0;
		REAL(sem_getvalue)(s, &value);
		o->count = value > 0 ? (uint32_t)value : 0;
		o->need = 1;
	}
	return o;
}

int x_sem_wait(void *s, bool try, clockid_t clock, const struct timespec *ts, uintptr_t pc)
{
	struct x_object *o = semaphore(s, pc);
	if (ts && (ts->tv_nsec < 0 || ts->tv_nsec >= 1000000000)) {
		errno = EINVAL;
		return -1;
	}
	if (!try && unlikely(x_must_not_wait())) {
		if (x_sem_wait(s, true, clock, NULL, pc))
			x_progress_waits();
		return 0;
	}
	if (!try)
		x_cancel_point();
	if (try || ts)
		x_point(SCHED_SEM_TRY, NULL, (uintptr_t)s, 0, 0, ts ? SCHED_TIMED : 0, pc);
	else
		x_point(SCHED_SEM_WAIT, o, (uintptr_t)s, 0, 0, 0, pc);
	x_result(o->count ? 0 : SCHED_RES_FAILED, o->count);
	if (!o->count) {
		if (!try)
			x_cancel_point();
		if (ts)
			timed_out(x_deadline(clock, ts));
		errno = ts ? ETIMEDOUT : EAGAIN;
		return -1;
	}
	o->count--;
	x_effect();
	x_acquire(&o->clock);
	x_changed(o);
	return 0;
}

int x_sem_post(void *s, uintptr_t pc)
{
	struct x_object *o = semaphore(s, pc);
	x_point(SCHED_SEM_POST, NULL, (uintptr_t)s, 0, 0, 0, pc);
	x_result(0, o->count);
	if (o->count >= 0x7fffffff) {
		errno = EOVERFLOW;
		return -1;
	}
	o->count++;
	x_release_join(&o->clock);
	x_changed(o);
	return 0;
}

int x_sem_value(void *s, int *value, uintptr_t pc)
{
	struct x_object *o = semaphore(s, pc);
	x_point(SCHED_SEM_VALUE, NULL, (uintptr_t)s, 0, 0, 0, pc);
	x_result(0, o->count);
	*value = (int)o->count;
	return 0;
}

/* ---- barriers: `count` have come of `need` ---- */

int x_barrier_wait(pthread_barrier_t *b, uintptr_t pc)
{
	struct x_object *o = x_object((uintptr_t)b, XO_BARRIER, pc);
	if (!o->need)
		misuse((uintptr_t)b, pc, "use of a barrier that was not initialised");
	x_point(SCHED_BARRIER_ARRIVE, NULL, (uintptr_t)b, 0, 0, 0, pc);
	x_release_join(&o->clock);
	if (++o->count < o->need) {
		x_result(0, 0);
		x_sleep_in(o);
		x_point(SCHED_BARRIER_LEAVE, NULL, (uintptr_t)b, 0, 0, 0, pc);
		return 0;
	}
	x_result(SCHED_RES_OPENED, 0);
	x_acquire(&o->clock);
	/* Now, not when they leave: the next round may have begun by then. */
	while (o->nsleep) {
		struct x_thread *t = x_wake(o, 0);
		x_join_clock(X.clock[t - X.thread], o->clock.at, o->clock.n);
		t->now = t->now < o->clock.now ? o->clock.now : t->now;
		sched_enable(X.sched, (uint32_t)(t - X.thread));
	}
	o->count = 0;
	return PTHREAD_BARRIER_SERIAL_THREAD;
}

/* ---- once: the flag in memory says done; the owner runs the function ---- */

enum { ONCE_DONE = 2 };

int x_once(pthread_once_t *flag, void (*fn)(void), uintptr_t pc)
{
	struct x_object *o = x_object((uintptr_t)flag, XO_ONCE, pc);
	x_point(SCHED_ONCE, o, (uintptr_t)flag, 0, 0, 0, pc);
	if (*flag == ONCE_DONE) {
		x_result(SCHED_RES_PASSED, 0);
		x_acquire(&o->clock);
		return 0;
	}
	x_result(0, 0);
	o->owner = (int16_t)X.current;
	X.held[X.current]++;
	x_changed(o);
	fn();
	x_point(SCHED_ONCE_END, NULL, (uintptr_t)flag, 0, 0, 0, pc);
	*flag = ONCE_DONE;
	give(o);
	return 0;
}

/* C++: who gets 1 initialises the variable. */
int x_guard_acquire(void *guard, uintptr_t pc)
{
	volatile uint8_t *done = guard;
	struct x_object *o = x_object((uintptr_t)guard, XO_ONCE, pc);
	x_point(SCHED_ONCE, o, (uintptr_t)guard, 0, 0, 0, pc);
	if (*done) {
		x_result(SCHED_RES_PASSED, 0);
		x_acquire(&o->clock);
		return 0;
	}
	x_result(0, 0);
	o->owner = (int16_t)X.current;
	X.held[X.current]++;
	x_changed(o);
	return 1;
}

void x_guard_release(void *guard, bool done, uintptr_t pc)
{
	struct x_object *o = x_object((uintptr_t)guard, XO_ONCE, pc);
	x_point(SCHED_ONCE_END, NULL, (uintptr_t)guard, 0, 0, 0, pc);
	*(volatile uint8_t *)guard = done;
	give(o);
}

/* ---- futexes: private or not, all are this process's ---- */

static long futex_wait(uint32_t *word, uint32_t value, const struct timespec *ts, uint64_t deadline, uintptr_t pc)
{
	struct x_object *o = x_object((uintptr_t)word, XO_FUTEX, pc);
	struct x_thread *t = x_me();
	x_point(SCHED_FUTEX_WAIT, NULL, (uintptr_t)word, 0, 4, 0, pc);
	if (*word != value) {
		x_result(SCHED_RES_FAILED, 0);
		return -EAGAIN;
	}
	x_result(SCHED_RES_WAITS, 0);
	x_effect();
	x_sleep_in(o);
	t->timed = ts;
	x_point(SCHED_FUTEX_WOKEN, NULL, (uintptr_t)word, 0, 4, ts ? SCHED_TIMED : 0, pc);
	t->timed = false;
	if (t->signalled) {
		x_result(0, 0);
		return 0;
	}
	x_result(SCHED_RES_TIMEOUT, 0);
	x_leave_sleep(o, X.current);
	timed_out(deadline);
	return -ETIMEDOUT;
}

static long futex_wake(uint32_t *word, uint32_t n, uintptr_t pc)
{
	struct x_object *o = x_object((uintptr_t)word, XO_FUTEX, pc);
	x_point(SCHED_FUTEX_WAKE, NULL, (uintptr_t)word, 0, 4, 0, pc);
	long woken = 0;
	/* Which, when one of several: a choice. More than one but not all: those with the lowest numbers. */
	uint32_t which = n == 1 && o->nsleep > 1 ? sched_choose(X.sched, o->nsleep) : 0;
	for (; n-- && o->nsleep; woken++)
		sched_enable(X.sched, (uint32_t)(x_wake(o, which) - X.thread));
	return woken;
}

long x_futex(uint32_t *word, int op, uint32_t value, const struct timespec *ts, uint32_t *word2, uint32_t value3, uintptr_t pc)
{
	(void)word2;
	(void)value3;
	uint64_t deadline = 0;
	switch (op & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
		if (ts) /* from now on */
			deadline = x_me()->now + x_deadline(CLOCK_MONOTONIC, ts);
		return futex_wait(word, value, ts, deadline, pc);
	case FUTEX_WAIT_BITSET:
		if (ts)
			deadline = x_deadline(op & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC, ts);
		return futex_wait(word, value, ts, deadline, pc);
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
		return futex_wake(word, value, pc);
	default:
		X.end_pc = pc;
		x_give_up(CONTROL_WHY_UNSUPPORTED, "futex operation %d is not simulated", op & FUTEX_CMD_MASK);
	}
}

/* ---- time ---- */

void x_yield(uintptr_t pc)
{
	x_drain_if_tso(pc);
	x_point(SCHED_YIELD, NULL, 0, 0, 0, 0, pc);
}

void x_sleep(uint64_t ns, uintptr_t pc)
{
	x_cancel_point();
	x_point(SCHED_SLEEP, NULL, 0, 0, 0, 0, pc);
	x_cancel_point();
	x_me()->now += ns;
}

void x_clock_read(clockid_t clock, struct timespec *ts)
{
	struct x_thread *t = x_me();
	x_effect();     /* a loop that looks at the time is no endless one */
	t->now += 1000; /* so that waiting for a clock ends */
	uint64_t at = t->now + (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ? EPOCH : 0);
	ts->tv_sec = (time_t)(at / 1000000000ull);
	ts->tv_nsec = (long)(at % 1000000000ull);
}

/* ---- beginnings and ends of objects ---- */

int x_mutex_destroy(pthread_mutex_t *m, uintptr_t pc)
{
	x_point(SCHED_DESTROY, NULL, (uintptr_t)m, 0, 0, 0, pc);
	struct x_object *o = x_object_find((uintptr_t)m);
	if (o && o->owner >= 0) {
		if (kind_of(m) & 3)
			return EBUSY;
		misuse((uintptr_t)m, pc, "destroy of a mutex that is locked");
	}
	x_object_destroyed((uintptr_t)m, pc);
	return 0;
}

/* `count` of a condition: the clock of its timed waits. */
int x_cond_init(pthread_cond_t *c, const pthread_condattr_t *a)
{
	clockid_t clock = CLOCK_REALTIME;
	if (a)
		pthread_condattr_getclock(a, &clock);
	x_object_renew((uintptr_t)c, XO_COND);
	x_object((uintptr_t)c, XO_COND, 0)->count = (uint32_t)clock;
	return REALV(pthread_cond_init, "GLIBC_2.3.2")(c, a);
}

clockid_t x_cond_clock(const pthread_cond_t *c)
{
	const struct x_object *o = x_object_find((uintptr_t)c);
	return o ? (clockid_t)o->count : CLOCK_REALTIME;
}

int x_cond_destroy(pthread_cond_t *c, uintptr_t pc)
{
	x_point(SCHED_DESTROY, NULL, (uintptr_t)c, 0, 0, 0, pc);
	struct x_object *o = x_object_find((uintptr_t)c);
	if (o && o->nsleep)
		misuse((uintptr_t)c, pc, "destroy of a condition variable on which threads wait");
	x_object_destroyed((uintptr_t)c, pc);
	return 0;
}

int x_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *a, unsigned n)
{
	int r = REAL(pthread_barrier_init)(b, a, n);
	if (!r) {
		x_object_renew((uintptr_t)b, XO_BARRIER);
		x_object((uintptr_t)b, XO_BARRIER, 0)->need = n;
	}
	return r;
}

int x_sem_init(void *s, int shared, unsigned value)
{
	int r = REAL(sem_init)(s, shared, value);
	if (!r) {
		x_object_renew((uintptr_t)s, XO_SEM);
		struct x_object *o = x_object((uintptr_t)s, XO_SEM, 0);
		o->count = value;
		o->need = 1;
	}
	return r;
}
