/*
 * cond: condition variables. Waiting releases the mutex and acquires it
 * again; signalling orders what came before it ahead of the waiter.
 *
 * A cancelled wait comes back through the cleanup handler with the mutex
 * held, which must then be in the books too.
 */
#include "runtime/explore/explorer.h"
#include "rt.h"

struct waiting {
	const void *mutex;
	uintptr_t pc, sp;
};

static void back(void *arg)
{
	struct waiting *w = arg;
	rt_wait_acquire(w->mutex, w->pc, w->sp);
}

#define WAIT(call)                               \
	struct waiting w = { m, CALLER, FRAME }; \
	int r;                                   \
	rt_wait_release(m, w.pc, w.sp);          \
	pthread_cleanup_push(back, &w);          \
	r = call;                                \
	pthread_cleanup_pop(1);                  \
	rt_sync_acquire(c);                      \
	return r

EXPORT int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	if (unlikely(rt.explore))
		return x_cond_wait(c, m, 0, NULL, CALLER);
	WAIT(REALV(pthread_cond_wait, "GLIBC_2.3.2")(c, m));
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *ts)
{
	if (unlikely(rt.explore))
		return x_cond_wait(c, m, x_cond_clock(c), ts, CALLER);
	WAIT(REALV(pthread_cond_timedwait, "GLIBC_2.3.2")(c, m, ts));
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock, const struct timespec *ts)
{
	if (unlikely(rt.explore))
		return x_cond_wait(c, m, clock, ts, CALLER);
	WAIT(REAL(pthread_cond_clockwait)(c, m, clock, ts));
}

EXPORT int pthread_cond_signal(pthread_cond_t *c)
{
	if (unlikely(rt.explore))
		return x_cond_wake(c, false, CALLER);
	rt_signal(c);
	return REALV(pthread_cond_signal, "GLIBC_2.3.2")(c);
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *c)
{
	if (unlikely(rt.explore))
		return x_cond_wake(c, true, CALLER);
	rt_signal(c);
	return REALV(pthread_cond_broadcast, "GLIBC_2.3.2")(c);
}

EXPORT int pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *a)
{
	if (unlikely(rt.explore))
		return x_cond_init(c, a);
	rt_renew(c, CALLER, FRAME);
	return REALV(pthread_cond_init, "GLIBC_2.3.2")(c, a);
}

EXPORT int pthread_cond_destroy(pthread_cond_t *c)
{
	if (unlikely(rt.explore))
		return x_cond_destroy(c, CALLER);
	int r = REALV(pthread_cond_destroy, "GLIBC_2.3.2")(c);
	rt_renew(c, 0, 0);
	return r;
}
