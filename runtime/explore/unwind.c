/*
 * unwind: pthread_exit: destructors and cleanup handlers of the functions that are left
 * run first, as libc does it.
 *
 * In C without exceptions pthread_cleanup_push registers a jump buffer
 * (__pthread_register_cancel); the handler after it ends with __pthread_unwind_next.
 * Otherwise, and in C++, the unwinder of libgcc runs the cleanups of each frame. A
 * program whose frames need it has that library loaded.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <unwind.h>

#include "runtime/explore/explorer.h"

typedef _Unwind_Reason_Code forced_fn(struct _Unwind_Exception *, _Unwind_Stop_Fn, void *);
static forced_fn *forced; /* set before the snapshot; NULL: no library has frames to unwind */

void x_unwind_init(void)
{
	forced = (forced_fn *)dlsym(RTLD_DEFAULT, "_Unwind_ForcedUnwind");
}

/* The frames of the thread end here. */
static uintptr_t last_frame(void)
{
	if (!X.current)
		return (uintptr_t)X.main_sp;
	/* A real thread goes on from the frame that lent the stack, 1024 bytes and up to 63 above (fiber.c). */
	return (uintptr_t)X.slot[x_me()->slot].start + (X.ctl->mode == CONTROL_REAL ? 1088 : (uintptr_t)-64);
}

static _Unwind_Reason_Code stop(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                struct _Unwind_Exception *object, struct _Unwind_Context *context, void *arg)
{
	(void)version;
	(void)class;
	(void)object;
	(void)arg;
	if (actions & _UA_END_OF_STACK || _Unwind_GetCFA(context) >= last_frame())
		x_thread_exit(x_me()->value);
	return _URC_NO_REASON;
}

/* The next handler in C, or the frames, or the end. */
static _Noreturn void leave_frames(void)
{
	struct x_thread *t = x_me();
	struct __jmp_buf_tag *b = t->cleanup;
	if (b) {
		/* the previously registered buffer is kept after it (see below) */
		t->cleanup = ((__pthread_unwind_buf_t *)b)->__pad[0];
		siglongjmp(b, 1);
	}
	static struct _Unwind_Exception object[X_THREADS]; /* of the program's memory: reset in every run */
	if (forced)
		forced(&object[X.current], stop, NULL);
	x_thread_exit(t->value);
}

void x_leave_all(void *value)
{
	x_me()->value = value;
	leave_frames();
}

EXPORT void pthread_exit(void *value)
{
	if (likely(!rt.explore))
		REAL(pthread_exit)(value);
	x_leave_all(value);
}

EXPORT void __pthread_register_cancel(__pthread_unwind_buf_t *buf)
{
	if (likely(!rt.explore)) {
		REAL(__pthread_register_cancel)(buf);
		return;
	}
	buf->__pad[0] = x_me()->cleanup;
	x_me()->cleanup = buf;
}

EXPORT void __pthread_unregister_cancel(__pthread_unwind_buf_t *buf)
{
	if (likely(!rt.explore))
		REAL(__pthread_unregister_cancel)(buf);
	else
		x_me()->cleanup = buf->__pad[0];
}

EXPORT void __pthread_unwind_next(__pthread_unwind_buf_t *buf)
{
	if (likely(!rt.explore))
		REAL(__pthread_unwind_next)(buf);
	leave_frames();
}
