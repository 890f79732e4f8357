/*
 * mutex: pthread mutexes of every type, and spin locks.
 *
 * A robust mutex whose owner died is still held by the caller.
 */
#include <errno.h>

#include "runtime/explore/explorer.h"
#include "rt.h"

static inline bool got(int r)
{
	return r == 0 || r == EOWNERDEAD;
}

EXPORT int pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a)
{
	int r = REAL(pthread_mutex_init)(m, a);
	if (unlikely(rt.explore))
		x_object_renew((uintptr_t)m, XO_MUTEX);
	rt_renew(m, CALLER, FRAME);
	return r;
}

EXPORT int pthread_mutex_destroy(pthread_mutex_t *m)
{
	if (unlikely(rt.explore))
		return x_mutex_destroy(m, CALLER);
	int r = REAL(pthread_mutex_destroy)(m);
	if (!r)
		rt_renew(m, 0, 0);
	else if (r == EBUSY)
		rt_destroy_busy(m, CALLER);
	return r;
}

EXPORT int pthread_mutex_lock(pthread_mutex_t *m)
{
	if (unlikely(rt.explore))
		return x_mutex_lock(m, CALLER);
	rt_gap_ends(m, CALLER, FRAME);
	int r = REAL(pthread_mutex_lock)(m);
	if (got(r))
		rt_acquire(m, false, CALLER, FRAME);
	return r;
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *m)
{
	if (unlikely(rt.explore))
		return x_mutex_trylock(m, CALLER);
	int r = REAL(pthread_mutex_trylock)(m);
	if (got(r))
		rt_acquire_tried(m, false, CALLER, FRAME);
	else
		rt_try_failed();
	return r;
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *ts)
{
	if (unlikely(rt.explore))
		return x_mutex_timedlock(m, CLOCK_REALTIME, ts, CALLER);
	int r = REAL(pthread_mutex_timedlock)(m, ts);
	if (got(r))
		rt_acquire_tried(m, false, CALLER, FRAME);
	return r;
}

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock, const struct timespec *ts)
{
	if (unlikely(rt.explore))
		return x_mutex_timedlock(m, clock, ts, CALLER);
	int r = REAL(pthread_mutex_clocklock)(m, clock, ts);
	if (got(r))
		rt_acquire_tried(m, false, CALLER, FRAME);
	return r;
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *m)
{
	if (unlikely(rt.explore))
		return x_mutex_unlock(m, CALLER);
	rt_release(m, CALLER, FRAME);
	int r = REAL(pthread_mutex_unlock)(m);
	if (!r)
		rt_released(m, CALLER);
	rt_gap_begins(m);
	return r;
}

EXPORT int pthread_spin_init(pthread_spinlock_t *s, int shared)
{
	int r = REAL(pthread_spin_init)(s, shared);
	if (unlikely(rt.explore))
		x_object_renew((uintptr_t)s, XO_SPIN);
	rt_renew((const void *)s, CALLER, FRAME);
	return r;
}

EXPORT int pthread_spin_destroy(pthread_spinlock_t *s)
{
	if (unlikely(rt.explore))
		x_object_destroy((uintptr_t)s, CALLER);
	rt_renew((const void *)s, 0, 0);
	return REAL(pthread_spin_destroy)(s);
}

EXPORT int pthread_spin_lock(pthread_spinlock_t *s)
{
	if (unlikely(rt.explore))
		return x_spin_lock((const void *)s, CALLER);
	rt_gap_ends((const void *)s, CALLER, FRAME);
	int r = REAL(pthread_spin_lock)(s);
	if (!r)
		rt_acquire((const void *)s, false, CALLER, FRAME);
	return r;
}

EXPORT int pthread_spin_trylock(pthread_spinlock_t *s)
{
	if (unlikely(rt.explore))
		return x_spin_trylock((const void *)s, CALLER);
	int r = REAL(pthread_spin_trylock)(s);
	if (!r)
		rt_acquire_tried((const void *)s, false, CALLER, FRAME);
	else
		rt_try_failed();
	return r;
}

EXPORT int pthread_spin_unlock(pthread_spinlock_t *s)
{
	if (unlikely(rt.explore))
		return x_spin_unlock((const void *)s, CALLER);
	rt_release((const void *)s, CALLER, FRAME);
	int r = REAL(pthread_spin_unlock)(s);
	rt_gap_begins((const void *)s);
	return r;
}
