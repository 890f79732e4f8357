/*
 * fiber: the threads of a program under exploration.
 *
 * Each has the stack and the thread-local storage of a real thread, one of a pool
 * made before the snapshot by libc's own pthread_create: so whatever libc keeps
 * there is as libc wants it, in every release, and nothing of its layout needs to
 * be known. The real threads only lend them: they sleep in the kernel forever.
 * The one kernel thread that runs switches the stack pointer and the fs register.
 *
 * The thread-local data and the thread's descriptor behind it are copied when the pool
 * is made and copied back when a fiber begins, so every thread begins with fresh
 * ones. Libc's frames below stay as they are: a fiber has none of them.
 */
#include <cpuid.h>
#include <errno.h>
#include <link.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/invariant.h"
#include "runtime/explore/explorer.h"

/* Callee-saved registers onto the old stack, from the new one. To those belong how floating
 * point rounds and what it traps, which is seldom changed, and slow to load. */
__asm__(".text\n"
        ".globl x_switch\n.hidden x_switch\n.type x_switch, @function\n"
        "x_switch:\n"
        "	push %rbp\n	push %rbx\n	push %r12\n"
        "	push %r13\n	push %r14\n	push %r15\n"
        "	sub $8, %rsp\n"
        "	stmxcsr (%rsp)\n	fnstcw 4(%rsp)\n"
        "	mov (%rsp), %eax\n	mov 4(%rsp), %dx\n"
        "	mov %rsp, (%rdi)\n"
        "	mov %rsi, %rsp\n"
        "	cmp (%rsp), %eax\n	jne 2f\n"
        "	cmp 4(%rsp), %dx\n	jne 2f\n"
        "1:	add $8, %rsp\n"
        "	pop %r15\n	pop %r14\n	pop %r13\n"
        "	pop %r12\n	pop %rbx\n	pop %rbp\n"
        "	ret\n"
        "2:	ldmxcsr (%rsp)\n	fldcw 4(%rsp)\n"
        "	jmp 1b\n"
        ".size x_switch, .-x_switch\n");

enum { HWCAP2_FSGSBASE = 2 };

void x_set_fs_call(uintptr_t fs)
{
	x_sys(SYS_arch_prctl, 0x1002 /* ARCH_SET_FS */, (long)fs, 0, 0, 0, 0);
}

/* ---- the pool ---- */

static void *lend(void *arg)
{
	struct x_slot *s = arg;
	s->fs = (uintptr_t)__builtin_thread_pointer();
	s->start = (char *)(((uintptr_t)__builtin_frame_address(0) - 1024) & ~(uintptr_t)63);
	__atomic_store_n(&s->ready, 1, __ATOMIC_RELEASE);
	x_sys(SYS_futex, (long)&s->ready, FUTEX_WAKE, 1, 0, 0, 0);
	while (!__atomic_load_n(&s->go, __ATOMIC_ACQUIRE))
		x_sys(SYS_futex, (long)&s->go, FUTEX_WAIT, 0, 0, 0, 0);
	/* Real threads, for a debugger: this one runs by itself from here on. */
	uint64_t none = 0;
	x_sys(SYS_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, 8, 0, 0);
	x_signal_stack();
	if (X.traps)
		x_traps_here();
	__asm__ volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(s->mxcsr), "m"(s->fpcw));
	x_thread_main();
}

static bool bounds(struct x_slot *s)
{
	pthread_attr_t attr;
	void *lo;
	size_t size;
	if (pthread_getattr_np(s->id, &attr))
		return false;
	bool ok = !pthread_attr_getstack(&attr, &lo, &size);
	pthread_attr_destroy(&attr);
	s->lo = lo;
	s->hi = (char *)lo + size;
	/* The stack and the descriptor are one mapping, the descriptor at its end. */
	return ok && s->start > s->lo && s->start < s->hi && s->fs > (uintptr_t)s->start && s->fs < (uintptr_t)s->hi;
}

static void slot_known(uint32_t slot)
{
	assert(slot < X_THREADS && X.slot[slot].id);
	uint32_t i = x_slot_hash(X.slot[slot].id);
	while (X.slot_of[i].id)
		i = (i + 1) % (2 * X_THREADS);
	X.slot_of[i].id = X.slot[slot].id;
	X.slot_of[i].slot = (uint16_t)slot;
}

/* The processor has it, and the kernel keeps its registers. */
static bool has_avx2(void)
{
	unsigned a, b, c, d, lo, hi;
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
		return false;
	__asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
	return (lo & 6) == 6 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_AVX2;
}

/* Modules have their thread-local data at the same distance from the descriptor in all threads, if it
 * is there from the start; of the main thread it is known. */
static int lowest_data(struct dl_phdr_info *i, size_t size, void *arg)
{
	struct x_slot *s = arg;
	(void)size;
	uintptr_t below = X.slot[0].fs - (uintptr_t)i->dlpi_tls_data;
	if (!i->dlpi_tls_data || below > s->fs - (uintptr_t)s->start)
		return 0;
	char *at = (char *)((s->fs - below) & ~(uintptr_t)63);
	if (s->data == s->start || at < s->data)
		s->data = at;
	return 0;
}

bool x_pool(uint32_t n)
{
	X.avx2 = has_avx2();
	X.fs_instruction = getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE;
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old); /* no signal of the program's goes to them */
	bool ok = true;
	slot_known(0);
	for (uint32_t i = 1; ok && i < n; i++) {
		struct x_slot *s = &X.slot[i];
		ok = !REAL(pthread_create)(&s->id, NULL, lend, s);
		while (ok && !__atomic_load_n(&s->ready, __ATOMIC_ACQUIRE))
			x_sys(SYS_futex, (long)&s->ready, FUTEX_WAIT, 0, 0, 0, 0);
		ok = ok && bounds(s);
		slot_known(i);
		s->data = s->start; /* if thread-local data should lie elsewhere */
		dl_iterate_phdr(lowest_data, s);
		size_t size = ok ? (size_t)(s->hi - s->data) : 0;
		long at = ok ? x_sys(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) : -1;
		ok = at > 0;
		if (ok)
			rt_copy(s->image = (char *)at, s->data, size);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ok;
}

/* ---- beginning and switching ---- */

/* What x_switch goes to: a call of fn. Floating point is as with the creator. */
void *x_fiber_frame(char *top, void (*fn)(void))
{
	void **sp = (void **)top;
	*--sp = NULL; /* fn's return address: none */
	*--sp = (void *)(uintptr_t)fn;
	for (int i = 0; i < 7; i++)
		*--sp = NULL;
	__asm__ volatile("stmxcsr (%0)\n\tfnstcw 4(%0)" : : "r"(sp) : "memory");
	return sp;
}

/* The first instruction of a fiber: a call of x_thread_main on an aligned stack. */
void x_fiber_prepare(struct x_thread *t)
{
	assert(t->slot < X_THREADS && x_bit(X.slots, t->slot));
	struct x_slot *s = &X.slot[t->slot];
	t->fs = s->fs;
	__asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(s->mxcsr), "=m"(s->fpcw));
	if (X.real)
		return;
	rt_copy(s->data, s->image, (size_t)(s->hi - s->data));
	t->sp = x_fiber_frame(s->start - 64, x_thread_main);
}

void x_fiber_go_real(struct x_thread *from, struct x_thread *to)
{
	assert(from->slot < X_THREADS && to->slot < X_THREADS && from != to);
	struct x_slot *a = &X.slot[from->slot], *b = &X.slot[to->slot];
	bool over = from->state != XT_LIVE;
	__atomic_store_n(&a->go, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&b->go, 1, __ATOMIC_RELEASE);
	x_sys(SYS_futex, (long)&b->go, FUTEX_WAKE, 1, 0, 0, 0);
	while (over || !__atomic_load_n(&a->go, __ATOMIC_ACQUIRE))
		x_sys(SYS_futex, (long)&a->go, FUTEX_WAIT, 0, 0, 0, 0);
}
