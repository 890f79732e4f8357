/*
 * c11: <threads.h>. glibc's own calls do not use the interposed names, so
 * these get their own interposers.
 */
#include <errno.h>
#include <stdlib.h>
#include <threads.h>

#include "runtime/explore/explorer.h"
#include "rt.h"

EXPORT int mtx_init(mtx_t *m, int type)
{
	if (unlikely(rt.explore))
		x_object_renew((uintptr_t)m, XO_MUTEX);
	rt_renew(m, CALLER, FRAME);
	return REAL(mtx_init)(m, type);
}

EXPORT void mtx_destroy(mtx_t *m)
{
	if (unlikely(rt.explore)) {
		x_mutex_destroy((void *)m, CALLER);
		return;
	}
	rt_renew(m, 0, 0);
	REAL(mtx_destroy)(m);
}

EXPORT int mtx_lock(mtx_t *m)
{
	if (unlikely(rt.explore))
		return x_mutex_lock((void *)m, CALLER) ? thrd_error : thrd_success;
	rt_gap_ends(m, CALLER, FRAME);
	int r = REAL(mtx_lock)(m);
	if (r == thrd_success)
		rt_acquire(m, false, CALLER, FRAME);
	return r;
}

EXPORT int mtx_trylock(mtx_t *m)
{
	if (unlikely(rt.explore))
		return x_mutex_trylock((void *)m, CALLER) ? thrd_busy : thrd_success;
	int r = REAL(mtx_trylock)(m);
	if (r == thrd_success)
		rt_acquire_tried(m, false, CALLER, FRAME);
	if (r != thrd_success)
		rt_try_failed();
	return r;
}

EXPORT int mtx_timedlock(mtx_t *restrict m, const struct timespec *restrict ts)
{
	if (unlikely(rt.explore))
		return x_mutex_timedlock((void *)m, CLOCK_REALTIME, ts, CALLER) ? thrd_timedout : thrd_success;
	int r = REAL(mtx_timedlock)(m, ts);
	if (r == thrd_success)
		rt_acquire_tried(m, false, CALLER, FRAME);
	return r;
}

EXPORT int mtx_unlock(mtx_t *m)
{
	if (unlikely(rt.explore))
		return x_mutex_unlock((void *)m, CALLER) ? thrd_error : thrd_success;
	rt_release(m, CALLER, FRAME);
	int r = REAL(mtx_unlock)(m);
	rt_gap_begins(m);
	return r;
}

EXPORT int cnd_signal(cnd_t *c)
{
	if (unlikely(rt.explore))
		return x_cond_wake((void *)c, false, CALLER);
	rt_signal(c);
	return REAL(cnd_signal)(c);
}

EXPORT int cnd_broadcast(cnd_t *c)
{
	if (unlikely(rt.explore))
		return x_cond_wake((void *)c, true, CALLER);
	rt_signal(c);
	return REAL(cnd_broadcast)(c);
}

EXPORT int cnd_wait(cnd_t *c, mtx_t *m)
{
	if (unlikely(rt.explore))
		return x_cond_wait((void *)c, (void *)m, 0, NULL, CALLER);
	rt_wait_release(m, CALLER, FRAME);
	int r = REAL(cnd_wait)(c, m);
	rt_wait_acquire(m, CALLER, FRAME);
	rt_sync_acquire(c);
	return r;
}

EXPORT int cnd_timedwait(cnd_t *restrict c, mtx_t *restrict m, const struct timespec *restrict ts)
{
	if (unlikely(rt.explore))
		return x_cond_wait((void *)c, (void *)m, CLOCK_REALTIME, ts, CALLER) ? thrd_timedout : thrd_success;
	rt_wait_release(m, CALLER, FRAME);
	int r = REAL(cnd_timedwait)(c, m, ts);
	rt_wait_acquire(m, CALLER, FRAME);
	rt_sync_acquire(c);
	return r;
}

EXPORT void call_once(once_flag *o, void (*fn)(void))
{
	rt_once((pthread_once_t *)o, fn); /* the same object in glibc */
}

struct c11_start {
	thrd_start_t fn;
	void *arg;
};

static void *intact_c11_main(void *arg)
{
	struct c11_start s = *(struct c11_start *)arg;
	rt_give_back(arg);
	return (void *)(intptr_t)s.fn(s.arg);
}

EXPORT int thrd_create(thrd_t *id, thrd_start_t fn, void *arg)
{
	struct c11_start *s = malloc(sizeof *s);
	if (!s)
		return thrd_nomem;
	*s = (struct c11_start){ fn, arg };
	int r = rt_create(id, NULL, intact_c11_main, s, CALLER, FRAME);
	return r == 0 ? thrd_success : r == ENOMEM ? thrd_nomem : thrd_error;
}

EXPORT int thrd_join(thrd_t id, int *res)
{
	void *value;
	if (rt_join(id, &value, CALLER, FRAME))
		return thrd_error;
	if (res)
		*res = (int)(intptr_t)value;
	return thrd_success;
}

EXPORT int thrd_detach(thrd_t id)
{
	return rt_detach(id) ? thrd_error : thrd_success;
}

EXPORT void thrd_exit(int res)
{
	pthread_exit((void *)(intptr_t)res);
}
