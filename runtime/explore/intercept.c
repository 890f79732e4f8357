/*
 * intercept: libc functions that only the explorer interposes; in every other run
 * they pass through.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <threads.h>
#include <unistd.h>

#include "runtime/explore/explorer.h"

/* ---- time ---- */

EXPORT void thrd_yield(void)
{
	if (likely(!rt.explore))
		REAL(thrd_yield)();
	else
		x_yield(CALLER);
}

static uint64_t ns_of(const struct timespec *ts)
{
	return (uint64_t)ts->tv_sec * 1000000000ull + (uint64_t)ts->tv_nsec;
}

EXPORT int nanosleep(const struct timespec *ts, struct timespec *rem)
{
	if (likely(!rt.explore))
		return REAL(nanosleep)(ts, rem);
	x_sleep(ns_of(ts), CALLER);
	return 0;
}

EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *ts, struct timespec *rem)
{
	if (likely(!rt.explore))
		return REAL(clock_nanosleep)(clock, flags, ts, rem);
	uint64_t ns = ns_of(ts), at = x_deadline(clock, ts), now = x_me()->now;
	if (flags & TIMER_ABSTIME)
		ns = at > now ? at - now : 0;
	x_sleep(ns, CALLER);
	return 0;
}

EXPORT int usleep(useconds_t us)
{
	if (likely(!rt.explore))
		return REAL(usleep)(us);
	x_sleep((uint64_t)us * 1000, CALLER);
	return 0;
}

EXPORT unsigned sleep(unsigned s)
{
	if (likely(!rt.explore))
		return REAL(sleep)(s);
	x_sleep((uint64_t)s * 1000000000ull, CALLER);
	return 0;
}

EXPORT int thrd_sleep(const struct timespec *ts, struct timespec *rem)
{
	if (likely(!rt.explore))
		return REAL(thrd_sleep)(ts, rem);
	x_sleep(ns_of(ts), CALLER);
	return 0;
}

/* All threads are on one processor. Libc asks the kernel without a system call. */
EXPORT int sched_getcpu(void)
{
	return likely(!rt.explore) ? REAL(sched_getcpu)() : 0;
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *ts)
{
	if (likely(!rt.explore))
		return REAL(clock_gettime)(clock, ts);
	x_clock_read(clock, ts);
	return 0;
}

EXPORT int gettimeofday(struct timeval *tv, void *zone)
{
	if (likely(!rt.explore))
		return REAL(gettimeofday)(tv, zone);
	struct timespec ts;
	x_clock_read(CLOCK_REALTIME, &ts);
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return 0;
}

EXPORT time_t time(time_t *out)
{
	if (likely(!rt.explore))
		return REAL(time)(out);
	struct timespec ts;
	x_clock_read(CLOCK_REALTIME, &ts);
	if (out)
		*out = ts.tv_sec;
	return ts.tv_sec;
}

EXPORT int timespec_get(struct timespec *ts, int base)
{
	if (likely(!rt.explore))
		return REAL(timespec_get)(ts, base);
	x_clock_read(CLOCK_REALTIME, ts);
	return base;
}

EXPORT clock_t clock(void)
{
	if (likely(!rt.explore))
		return REAL(clock)();
	struct timespec ts;
	x_clock_read(CLOCK_MONOTONIC, &ts);
	return (clock_t)(ts.tv_sec * 1000000 + ts.tv_nsec / 1000);
}

/* ---- objects ---- */

EXPORT int sem_getvalue(sem_t *restrict s, int *restrict value)
{
	if (likely(!rt.explore))
		return REAL(sem_getvalue)(s, value);
	return x_sem_value(s, value, CALLER);
}

EXPORT int sem_destroy(sem_t *s)
{
	if (likely(!rt.explore))
		return REAL(sem_destroy)(s);
	x_object_destroy((uintptr_t)s, CALLER);
	return 0;
}

EXPORT int pthread_barrier_destroy(pthread_barrier_t *b)
{
	if (likely(!rt.explore))
		return REAL(pthread_barrier_destroy)(b);
	x_object_destroy((uintptr_t)b, CALLER);
	return 0;
}

EXPORT int pthread_mutex_consistent(pthread_mutex_t *m)
{
	if (likely(!rt.explore))
		return REAL(pthread_mutex_consistent)(m);
	return x_mutex_consistent(m, CALLER);
}

/* ---- keys ---- */

EXPORT int pthread_key_create(pthread_key_t *key, void (*dtor)(void *))
{
	if (likely(!rt.explore))
		return REAL(pthread_key_create)(key, dtor);
	for (unsigned i = 0; i < X_KEYS; i++)
		if (!X.key_used[i]) {
			X.key_used[i] = 1;
			X.key_dtor[i] = dtor;
			X.keys_dirty = true;
			for (uint32_t t = 0; t < X.nthreads; t++)
				X.thread_more[t].keys[i] = NULL;
			*key = i;
			return 0;
		}
	return EAGAIN;
}

EXPORT int pthread_key_delete(pthread_key_t key)
{
	if (likely(!rt.explore))
		return REAL(pthread_key_delete)(key);
	if (key >= X_KEYS || !X.key_used[key])
		return EINVAL;
	X.key_used[key] = 0;
	X.keys_dirty = true;
	return 0;
}

EXPORT void *pthread_getspecific(pthread_key_t key)
{
	if (likely(!rt.explore))
		return REAL(pthread_getspecific)(key);
	return key < x_me()->nkeys ? X.thread_more[X.current].keys[key] : NULL;
}

EXPORT int pthread_setspecific(pthread_key_t key, const void *value)
{
	if (likely(!rt.explore))
		return REAL(pthread_setspecific)(key, value);
	struct x_thread *t = x_me();
	if (key >= X_KEYS || !X.key_used[key])
		return EINVAL;
	for (; t->nkeys <= key; t->nkeys++)
		X.thread_more[X.current].keys[t->nkeys] = NULL;
	X.thread_more[X.current].keys[key] = (void *)(uintptr_t)value;
	return 0;
}

EXPORT int tss_create(tss_t *key, tss_dtor_t dtor)
{
	if (likely(!rt.explore))
		return REAL(tss_create)(key, dtor);
	return pthread_key_create(key, dtor) ? thrd_error : thrd_success;
}

EXPORT void tss_delete(tss_t key)
{
	if (likely(!rt.explore))
		REAL(tss_delete)(key);
	else
		pthread_key_delete(key);
}

EXPORT void *tss_get(tss_t key)
{
	return likely(!rt.explore) ? REAL(tss_get)(key) : pthread_getspecific(key);
}

EXPORT int tss_set(tss_t key, void *value)
{
	if (likely(!rt.explore))
		return REAL(tss_set)(key, value);
	return pthread_setspecific(key, value) ? thrd_error : thrd_success;
}

int __cxa_thread_atexit_impl(void (*fn)(void *), void *arg, void *dso);
EXPORT int __cxa_thread_atexit_impl(void (*fn)(void *), void *arg, void *dso)
{
	if (likely(!rt.explore))
		return REAL(__cxa_thread_atexit_impl)(fn, arg, dso);
	struct x_tls_dtor *d = x_malloc(sizeof *d);
	if (!d)
		return ENOMEM;
	*d = (struct x_tls_dtor){ fn, arg, x_me()->dtors };
	x_me()->dtors = d;
	return 0;
}

/* ---- static variables of C++ functions: once, with the flag in the guard's first byte ---- */

int __cxa_guard_acquire(uint64_t *guard);
void __cxa_guard_release(uint64_t *guard);
void __cxa_guard_abort(uint64_t *guard);

/* Weak: a program with its own (a static libstdc++) keeps it. */
__attribute__((weak)) EXPORT int __cxa_guard_acquire(uint64_t *guard)
{
	if (likely(!rt.explore)) {
		int first = REAL(__cxa_guard_acquire)(guard);
		if (!first && rt.marks & RT_ORDER)
			rt_sync_acquire(guard);
		return first;
	}
	return x_guard_acquire(guard, CALLER);
}

__attribute__((weak)) EXPORT void __cxa_guard_release(uint64_t *guard)
{
	if (unlikely(rt.explore)) {
		x_guard_release(guard, true, CALLER);
		return;
	}
	if (rt.marks & RT_ORDER)
		rt_sync_release(guard);
	REAL(__cxa_guard_release)(guard);
}

__attribute__((weak)) EXPORT void __cxa_guard_abort(uint64_t *guard)
{
	if (likely(!rt.explore))
		REAL(__cxa_guard_abort)(guard);
	else
		x_guard_release(guard, false, CALLER);
}

/* ---- ends ---- */

int __cxa_atexit(void (*fn)(void *), void *arg, void *dso);
EXPORT int __cxa_atexit(void (*fn)(void *), void *arg, void *dso)
{
	if (unlikely(rt.explore))
		X.atexits++;
	return REAL(__cxa_atexit)(fn, arg, dso);
}

EXPORT int on_exit(void (*fn)(int, void *), void *arg)
{
	if (unlikely(rt.explore))
		X.atexits++;
	return REAL(on_exit)(fn, arg);
}

extern void (*__fini_array_start[])(void) __attribute__((visibility("hidden")));
extern void (*__fini_array_end[])(void) __attribute__((visibility("hidden")));

/* The compiler's own destructor and the runtime's are always there. */
static bool ends_with_code(void)
{
	return X.atexits || __fini_array_end - __fini_array_start > 2;
}

/* Handlers and destructors run as in any program; libc's last system call, or the lack of
 * any of those, is the end. In detail what stdio still holds is of interest. */
EXPORT void exit(int status)
{
	if (likely(!rt.explore))
		REAL(exit)(status);
	if (X.ctl->mode == CONTROL_REAL && X.current)
		x_exit(status, CALLER);
	x_run_dtors(x_me());
	if (X.traps && (X.detail || ends_with_code()))
		REAL(exit)(status);
	x_exit(status, CALLER);
}

void x_exit(int status, uintptr_t pc)
{
	x_point(SCHED_PROCESS_EXIT, NULL, 0, 0, 0, 0, 0); /* no place: handlers may have run or not */
	X.code = status;
	(void)pc;
	if (status)
		X.end = CONTROL_EXIT;
	x_end_run();
}

EXPORT void abort(void)
{
	if (likely(!rt.explore))
		REAL(abort)();
	X.end_pc = CALLER;
	X.code = SIGABRT;
	x_fail(CONTROL_ABORT, "abort was called");
}

/* what the guest's <assert.h> declares; ours does not with NDEBUG */
_Noreturn void __assert_fail(const char *what, const char *file, unsigned line, const char *function);

EXPORT void __assert_fail(const char *what, const char *file, unsigned line, const char *function)
{
	if (likely(!rt.explore))
		REAL(__assert_fail)(what, file, line, function);
	X.end_pc = CALLER;
	x_fail(CONTROL_ASSERT, "%s:%u: %s: assertion '%s' failed", file, line, function ? function : "?", what);
}

EXPORT int pthread_kill(pthread_t id, int sig)
{
	if (likely(!rt.explore))
		return REAL(pthread_kill)(id, sig);
	if (x_thread_of(id) == x_me())
		return raise(sig) ? errno : 0;
	if (!sig)
		return x_thread_of(id) ? 0 : ESRCH;
	X.end_pc = CALLER;
	x_give_up(CONTROL_WHY_UNSUPPORTED, "pthread_kill of another thread is not simulated");
}
