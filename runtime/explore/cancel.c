/*
 * cancel: pthread_cancel under exploration. Deferred: a thread that was told to end does so at its
 * next cancellation point, or at once if it waits in one; cleanup handlers and
 * destructors run as for pthread_exit.
 *
 * Telling it is a store to a word of the thread's, pthread_testcancel a load of it. The other cancellation
 * points look at the word without a point of their own, so that programs that do not
 * cancel have none more: which of them comes first is drawn by the sampling
 * strategies, but exhaustive search does not turn every such order round, and the
 * report says so (control.cancels).
 */
#include <errno.h>
#include <pthread.h>

#include "runtime/explore/explorer.h"

void x_cancelled(struct x_thread *t)
{
	if (t->cancel_off)
		return;
	X.ctl->cancels++;
	x_acquire(&x_object((uintptr_t)&t->cancelled, XO_ATOMIC, 0)->clock);
	t->cancel_off = true;
	x_leave_all(PTHREAD_CANCELED);
}

/* It waits where it can be cancelled: it goes on. */
static void wakes(struct x_thread *t)
{
	uint32_t i = (uint32_t)(t - X.thread);
	switch (t->op->kind) {
	case SCHED_COND_WAKE: {
		struct x_object *o = x_object_find((uintptr_t)t->op->a);
		if (!o || t->signalled)
			return;
		x_leave_sleep(o, i);
		t->signalled = true;
		sched_caused(X.sched, i);
		x_pends(t, x_object(t->op->b, XO_MUTEX, 0));
		return;
	}
	case SCHED_SEM_WAIT:
	case SCHED_JOIN:
		sched_caused(X.sched, i);
		sched_enable(X.sched, i);
		return;
	default:
		return;
	}
}

EXPORT int pthread_cancel(pthread_t id)
{
	if (likely(!rt.explore))
		return REAL(pthread_cancel)(id);
	struct x_thread *t = x_thread_of(id);
	if (!t)
		return ESRCH;
	if (t->cancel_async && !t->cancel_off) {
		X.end_pc = CALLER;
		x_give_up(CONTROL_WHY_UNSUPPORTED, "pthread_cancel of a thread with asynchronous cancellation is not simulated");
	}
	struct x_object *o = x_object((uintptr_t)&t->cancelled, XO_ATOMIC, CALLER);
	x_point(SCHED_STORE, NULL, (uintptr_t)&t->cancelled, 0, 4, 0, CALLER);
	x_release_join(&o->clock);
	t->cancelled = 1;
	if (t->state == XT_LIVE && t != x_me() && !t->cancel_off)
		wakes(t);
	if (t->waits_io && t != x_me() && !t->cancel_off) {
		x_me()->call = UINT16_MAX;
		x_point(SCHED_RMW, NULL, X_IO, 0, 8, 0, CALLER); /* ends its wait */
	}
	return 0;
}

EXPORT void pthread_testcancel(void)
{
	if (likely(!rt.explore)) {
		REAL(pthread_testcancel)();
		return;
	}
	x_point(SCHED_LOAD, NULL, (uintptr_t)&x_me()->cancelled, 0, 4, 0, CALLER);
	x_cancel_point();
}

EXPORT int pthread_setcancelstate(int state, int *old)
{
	if (likely(!rt.explore))
		return REAL(pthread_setcancelstate)(state, old);
	struct x_thread *t = x_me();
	if (state != PTHREAD_CANCEL_ENABLE && state != PTHREAD_CANCEL_DISABLE)
		return EINVAL;
	if (old)
		*old = t->cancel_off ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE;
	t->cancel_off = state == PTHREAD_CANCEL_DISABLE;
	return 0;
}

EXPORT int pthread_setcanceltype(int type, int *old)
{
	if (likely(!rt.explore))
		return REAL(pthread_setcanceltype)(type, old);
	struct x_thread *t = x_me();
	if (type != PTHREAD_CANCEL_DEFERRED && type != PTHREAD_CANCEL_ASYNCHRONOUS)
		return EINVAL;
	if (old)
		*old = t->cancel_async ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED;
	t->cancel_async = type == PTHREAD_CANCEL_ASYNCHRONOUS;
	if (t->cancel_async && t->cancelled)
		x_cancelled(t);
	return 0;
}
