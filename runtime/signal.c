/*
 * signal: handlers run as the program set them, with two differences that the
 * program should not notice: one that comes while its thread is inside the
 * runtime is put off until it leaves (a jump out of it would leave our tables
 * half-done), and its functions are kept apart from those it interrupted.
 *
 * Faults (SIGSEGV and the like) are never put off.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rt.h"

enum { SIGNALS = 65 };

struct signal_action {
	void (*fn)(int, siginfo_t *, void *); /* NULL: not ours */
	int flags;
};
static struct signal_action actions[SIGNALS];

static bool is_fault(int sig, const siginfo_t *info)
{
	return (sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL || sig == SIGTRAP || sig == SIGABRT ||
	        sig == SIGSYS) &&
	                       info && info->si_code > 0
	               ? true
	               : sig == SIGABRT;
}

/* A frame that stops unwinding: below it are the interrupted functions. */
static struct frame *barrier(struct rt_thread *th)
{
	struct thread *t = &th->t;
	if (th == &rt_nobody || t->top >= t->limit)
		return NULL;
	struct frame *f = ++t->top;
	__asm__ volatile("" ::: "memory");
	*f = (struct frame){ .sp = ~(uintptr_t)0 >> 1, .fn = FRAME_NO_FN, .log = t->nlog };
	return f;
}

static void run(int sig, siginfo_t *info, void *context)
{
	struct rt_thread *th = me;
	void (*fn)(int, siginfo_t *, void *) = actions[sig].fn;
	int keep = errno;
	size_t depth = th == &rt_nobody ? 0 : (size_t)(th->t.top - th->t.frames);
	struct frame *f = barrier(th);
	uint32_t marks = th->t.nmarks;
	if (fn)
		fn(sig, info, context);
	if (f && th == me) {
		th->t.top = th->t.frames + depth;
		th->t.nmarks = marks;
	}
	errno = keep;
}

static void handler(int sig, siginfo_t *info, void *context)
{
	struct rt_thread *th = me;
	if (th != &rt_nobody && th->busy && !is_fault(sig, info)) {
		th->pending_info[sig] = *info;
		__atomic_fetch_or(&th->pending_set[sig / 64], 1ull << sig % 64, __ATOMIC_RELAXED);
		th->pending = 1;
		return;
	}
	run(sig, info, context);
}

void rt_deliver(struct rt_thread *th)
{
	th->pending = 0;
	for (int sig = 1; sig < SIGNALS; sig++) {
		uint64_t bit = 1ull << sig % 64;
		if (!(__atomic_fetch_and(&th->pending_set[sig / 64], ~bit, __ATOMIC_RELAXED) & bit))
			continue;
		ucontext_t context;
		siginfo_t info = th->pending_info[sig];
		__builtin_memset(&context, 0, sizeof context);
		run(sig, &info, &context);
	}
}

static int set_action(int sig, const struct sigaction *act, struct sigaction *old)
{
	__typeof__(&sigaction) real = REAL(sigaction);
	if (sig <= 0 || sig >= SIGNALS || !rt.on)
		return real(sig, act, old);
	struct signal_action before = actions[sig];
	struct sigaction mine;
	if (act) {
		mine = *act;
		bool real_fn = act->sa_handler != SIG_DFL && act->sa_handler != SIG_IGN;
		actions[sig].fn = real_fn ? act->sa_sigaction : NULL;
		actions[sig].flags = act->sa_flags;
		if (real_fn) {
			mine.sa_sigaction = handler;
			mine.sa_flags |= SA_SIGINFO;
		}
	}
	struct sigaction was;
	int r = real(sig, act ? &mine : NULL, &was);
	if (r) {
		actions[sig] = before;
		return r;
	}
	if (old) {
		*old = was;
		if (was.sa_sigaction == handler) {
			old->sa_sigaction = before.fn;
			old->sa_flags = (was.sa_flags & ~SA_SIGINFO) | (before.flags & SA_SIGINFO);
		}
	}
	return 0;
}

EXPORT int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	return set_action(sig, act, old);
}

static sighandler_t set(int sig, sighandler_t fn, int flags)
{
	struct sigaction a = { .sa_flags = flags }, old;
	a.sa_handler = fn;
	if (!(flags & (int)SA_RESETHAND) && sig > 0 && sig < SIGNALS)
		a.sa_mask.__val[0] = 1ull << (sig - 1);
	if (fn == SIG_ERR) {
		errno = EINVAL;
		return SIG_ERR;
	}
	return set_action(sig, &a, &old) ? SIG_ERR : old.sa_handler;
}

EXPORT sighandler_t signal(int sig, sighandler_t fn)
{
	return set(sig, fn, SA_RESTART);
}

sighandler_t bsd_signal(int sig, sighandler_t fn);
EXPORT sighandler_t bsd_signal(int sig, sighandler_t fn)
{
	return set(sig, fn, SA_RESTART);
}

sighandler_t sysv_signal(int sig, sighandler_t fn);
EXPORT sighandler_t sysv_signal(int sig, sighandler_t fn)
{
	return set(sig, fn, (int)(SA_RESETHAND | SA_NODEFER));
}

/* ---- jumps and exceptions: abandoned frames ---- */

/* glibc keeps the stack pointer of a jmp_buf mangled with a secret. */
static uintptr_t target_sp(const struct __jmp_buf_tag *env)
{
	uintptr_t sp = (uintptr_t)env->__jmpbuf[6];
	__asm__("ror $0x11, %0\n\txor %%fs:0x30, %0" : "+r"(sp));
	return sp;
}

static void jump_to(uintptr_t sp)
{
	struct rt_thread *th = me;
	if (th == &rt_nobody)
		return;
	struct thread *t = &th->t;
	/* Out of a handler on another stack: the frames below it decide. */
	struct frame *f = t->top;
	while (f > t->frames && f->pc)
		f--;
	if (f > t->frames && f > t->frames + 1 && f[-1].sp > sp - (1u << 24) && f[-1].sp < sp + (64u << 20))
		t->top = f - 1;
	red_prune(t, sp);
}

typedef void jump_fn(struct __jmp_buf_tag *, int);

#define SIGNAL_JUMP(name)                                        \
	EXPORT void name(struct __jmp_buf_tag env[1], int value) \
	{                                                        \
		static jump_fn *real;                            \
		if (!real)                                       \
			real = (jump_fn *)rt_real(#name, NULL);  \
		jump_to(target_sp(env));                         \
		real(env, value);                                \
		__builtin_unreachable();                         \
	}

SIGNAL_JUMP(longjmp)
SIGNAL_JUMP(_longjmp)
SIGNAL_JUMP(siglongjmp)
void __longjmp_chk(struct __jmp_buf_tag env[1], int value) __attribute__((noreturn));
SIGNAL_JUMP(__longjmp_chk)

/* A handler of the program's begins in the function that catches. */
void *__cxa_begin_catch(void *object);
EXPORT void *__cxa_begin_catch(void *object)
{
	struct rt_thread *th = me;
	static void *(*real)(void *);
	if (!real)
		real = (void *(*)(void *))rt_real("__cxa_begin_catch", NULL);
	if (th != &rt_nobody)
		red_prune(&th->t, FRAME);
	return real(object);
}
