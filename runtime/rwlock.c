/*
 * rwlock: pthread reader-writer locks. A reader's hold protects what it
 * reads, not what it writes.
 */
#include "runtime/explore/explorer.h"
#include "rt.h"

EXPORT int pthread_rwlock_init(pthread_rwlock_t *l, const pthread_rwlockattr_t *a)
{
	int r = REAL(pthread_rwlock_init)(l, a);
	if (unlikely(rt.explore))
		x_object_renew((uintptr_t)l, XO_RWLOCK);
	rt_renew(l, CALLER, FRAME);
	return r;
}

EXPORT int pthread_rwlock_destroy(pthread_rwlock_t *l)
{
	if (unlikely(rt.explore)) {
		x_object_destroy((uintptr_t)l, CALLER);
		return 0;
	}
	int r = REAL(pthread_rwlock_destroy)(l);
	if (!r)
		rt_renew(l, 0, 0);
	return r;
}

#define TAKE(name, read, try)                                                          \
	EXPORT int name(pthread_rwlock_t *l)                                           \
	{                                                                              \
		if (unlikely(rt.explore))                                              \
			return x_rwlock_take(l, read, try, NULL, 0, CALLER);           \
		if (!try)                                                              \
			rt_gap_ends(l, CALLER, FRAME);                                 \
		int r = REAL(name)(l);                                                 \
		if (!r)                                                                \
			(try ? rt_acquire_tried : rt_acquire)(l, read, CALLER, FRAME); \
		return r;                                                              \
	}
#define TIMED(name, read)                                                                 \
	EXPORT int name(pthread_rwlock_t *l, const struct timespec *ts)                   \
	{                                                                                 \
		if (unlikely(rt.explore))                                                 \
			return x_rwlock_take(l, read, false, ts, CLOCK_REALTIME, CALLER); \
		int r = REAL(name)(l, ts);                                                \
		if (!r)                                                                   \
			rt_acquire_tried(l, read, CALLER, FRAME);                         \
		return r;                                                                 \
	}
#define CLOCKED(name, read)                                                          \
	EXPORT int name(pthread_rwlock_t *l, clockid_t c, const struct timespec *ts) \
	{                                                                            \
		if (unlikely(rt.explore))                                            \
			return x_rwlock_take(l, read, false, ts, c, CALLER);         \
		int r = REAL(name)(l, c, ts);                                        \
		if (!r)                                                              \
			rt_acquire_tried(l, read, CALLER, FRAME);                    \
		return r;                                                            \
	}

TAKE(pthread_rwlock_rdlock, true, false)
TAKE(pthread_rwlock_tryrdlock, true, true)
TIMED(pthread_rwlock_timedrdlock, true)
CLOCKED(pthread_rwlock_clockrdlock, true)
TAKE(pthread_rwlock_wrlock, false, false)
TAKE(pthread_rwlock_trywrlock, false, true)
TIMED(pthread_rwlock_timedwrlock, false)
CLOCKED(pthread_rwlock_clockwrlock, false)

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	if (unlikely(rt.explore))
		return x_rwlock_unlock(l, CALLER);
	rt_release(l, CALLER, FRAME);
	int r = REAL(pthread_rwlock_unlock)(l);
	rt_gap_begins(l);
	return r;
}
