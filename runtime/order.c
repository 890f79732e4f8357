/*
 * order: objects that order threads without excluding them: barriers,
 * semaphores, once.
 *
 * A semaphore hands over what was done before the post. One that is used as
 * a lock (initialised to one) protects by that order alone.
 */
#include <fcntl.h>
#include <semaphore.h>
#include <stdarg.h>

#include "runtime/explore/explorer.h"
#include "rt.h"

EXPORT int pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *a, unsigned n)
{
	if (unlikely(rt.explore))
		return x_barrier_init(b, a, n);
	rt_renew(b, CALLER, FRAME);
	return REAL(pthread_barrier_init)(b, a, n);
}

EXPORT int pthread_barrier_wait(pthread_barrier_t *b)
{
	if (unlikely(rt.explore))
		return x_barrier_wait(b, CALLER);
	rt_sync_release(b);
	int r = REAL(pthread_barrier_wait)(b);
	rt_sync_acquire(b);
	return r;
}

EXPORT int sem_init(sem_t *s, int shared, unsigned value)
{
	if (unlikely(rt.explore))
		return x_sem_init(s, shared, value);
	rt_renew(s, CALLER, FRAME);
	return REAL(sem_init)(s, shared, value);
}

EXPORT int sem_post(sem_t *s)
{
	if (unlikely(rt.explore))
		return x_sem_post(s, CALLER);
	rt_sync_release(s);
	return REAL(sem_post)(s);
}

EXPORT int sem_wait(sem_t *s)
{
	if (unlikely(rt.explore))
		return x_sem_wait(s, false, 0, NULL, CALLER);
	int r = REAL(sem_wait)(s);
	if (!r)
		rt_sync_acquire(s);
	return r;
}

EXPORT int sem_trywait(sem_t *s)
{
	if (unlikely(rt.explore))
		return x_sem_wait(s, true, 0, NULL, CALLER);
	int r = REAL(sem_trywait)(s);
	if (!r)
		rt_sync_acquire(s);
	return r;
}

EXPORT int sem_timedwait(sem_t *restrict s, const struct timespec *restrict ts)
{
	if (unlikely(rt.explore))
		return x_sem_wait(s, false, CLOCK_REALTIME, ts, CALLER);
	int r = REAL(sem_timedwait)(s, ts);
	if (!r)
		rt_sync_acquire(s);
	return r;
}

EXPORT int sem_clockwait(sem_t *restrict s, clockid_t clock, const struct timespec *restrict ts)
{
	if (unlikely(rt.explore))
		return x_sem_wait(s, false, clock, ts, CALLER);
	int r = REAL(sem_clockwait)(s, clock, ts);
	if (!r)
		rt_sync_acquire(s);
	return r;
}

/* The initialiser runs in one thread; the others see all it did. */
static __thread void (*once_fn)(void);
static __thread const void *once_obj;

static void intact_run_once(void)
{
	void (*fn)(void) = once_fn;
	const void *obj = once_obj;
	fn();
	rt_sync_release(obj);
}

int rt_once(pthread_once_t *o, void (*fn)(void))
{
	if (unlikely(rt.explore))
		return x_once(o, fn, CALLER);
	void (*keep_fn)(void) = once_fn;
	const void *keep_obj = once_obj;
	once_fn = fn;
	once_obj = o;
	int r = REAL(pthread_once)(o, intact_run_once);
	once_fn = keep_fn;
	once_obj = keep_obj;
	rt_sync_acquire(o);
	return r;
}

EXPORT int pthread_once(pthread_once_t *o, void (*fn)(void))
{
	return rt_once(o, fn);
}
