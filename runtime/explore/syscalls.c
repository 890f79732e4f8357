/*
 * syscalls: system calls of the program, including those made by libc.
 *
 * The kernel sends each to us as SIGSYS (syscall user dispatch, Linux 5.11), except
 * those of x_sys. The handler only moves the call to a function that runs on the
 * thread's own stack (x_trapped), so that a call may stop at a point like every
 * other operation: a futex, of libc's internal locks too, is simulated.
 *
 * What a restart must undo is noted: descriptors opened, offsets moved, mappings
 * made, handlers set. What it cannot undo makes the program run in a process of its
 * own for each run (CONTROL_FORK), where all is allowed.
 *
 * Output to the standard descriptors is kept and shown for a failing run only.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/explore/explorer.h"
#include "sched/call_names.h"

/* ---- ways in and out ---- */

/* x_sys(nr, six arguments), and the return from a handler: calls between the
 * two labels never trap. Then x_trampoline: see on_trap. */
__asm__(".text\n"
        ".globl x_sys\n.hidden x_sys\n.type x_sys, @function\n"
        "x_sys:\n"
        "	mov %rdi, %rax\n	mov %rsi, %rdi\n	mov %rdx, %rsi\n	mov %rcx, %rdx\n"
        "	mov %r8, %r10\n	mov %r9, %r8\n	mov 8(%rsp), %r9\n"
        "	syscall\n"
        "	ret\n"
        ".size x_sys, .-x_sys\n"
        ".globl x_return\n.hidden x_return\n"
        "x_return:\n"
        "	mov $15, %eax\n" /* SYS_rt_sigreturn */
        "	syscall\n"
        "	nop\n"
        ".globl x_sys_end\n.hidden x_sys_end\n"
        "x_sys_end:\n"
        ".globl x_trampoline\n.hidden x_trampoline\n"
        "x_trampoline:\n"
        "	pushfq\n"
        "	push %rax\n	push %rbx\n	push %rcx\n	push %rdx\n	push %rsi\n	push %rdi\n	push %rbp\n"
        "	push %r8\n	push %r9\n	push %r10\n	push %r11\n	push %r12\n	push %r13\n	push %r14\n	"
        "push %r15\n"
        "	mov %rsp, %rbx\n"
        "	sub $4096, %rsp\n	and $-64, %rsp\n"
        "	xor %eax, %eax\n"
        "	mov %rax, 512(%rsp)\n	mov %rax, 520(%rsp)\n	mov %rax, 528(%rsp)\n	mov %rax, 536(%rsp)\n"
        "	mov %rax, 544(%rsp)\n	mov %rax, 552(%rsp)\n	mov %rax, 560(%rsp)\n	mov %rax, 568(%rsp)\n"
        "	mov $0xe7, %eax\n	xor %edx, %edx\n"
        "	xsave64 (%rsp)\n"
        "	cld\n"
        "	mov %rbx, %rdi\n"
        "	call x_trapped\n"
        "	mov $0xe7, %eax\n	xor %edx, %edx\n"
        "	xrstor64 (%rsp)\n"
        "	mov %rbx, %rsp\n"
        "	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %r11\n	pop %r10\n	pop %r9\n	"
        "pop %r8\n"
        "	pop %rbp\n	pop %rdi\n	pop %rsi\n	pop %rdx\n	pop %rcx\n	pop %rbx\n	pop %rax\n"
        "	popfq\n"
        "	ret $128\n");
extern char x_sys_end[], x_return[], x_trampoline[];

struct trapped {
	long r15, r14, r13, r12, r11, r10, r9, r8, rbp, rdi, rsi, rdx, rcx, rbx, rax, flags, rip;
};
void x_trapped(struct trapped *r);

void x_trapped(struct trapped *r)
{
	long a[6] = { r->rdi, r->rsi, r->rdx, r->r10, r->r8, r->r9 };
	X.ntraps++;
	X.thread_more[X.current].trap_at = (uintptr_t)&r->rip;
	r->rax = x_syscall(r->rax, a, (uintptr_t)r->rip);
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	greg_t *g = u->uc_mcontext.gregs;
	(void)sig;
	(void)info;
	uintptr_t sp = (uintptr_t)g[REG_RSP] - 128 - 8; /* below the red zone */
	*(uintptr_t *)sp = (uintptr_t)g[REG_RIP];
	g[REG_RSP] = (greg_t)sp;
	g[REG_RIP] = (greg_t)(uintptr_t)x_trampoline;
}

/* ---- faults ---- */

static void on_fault(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	greg_t *g = u->uc_mcontext.gregs;
	uintptr_t addr = (uintptr_t)info->si_addr;
	if (sig == SIGSEGV && info->si_code == SEGV_ACCERR && x_snapshot_fault(addr))
		return;
	if (!X.active) {
		rt_sayf("Intact: explore: the runtime failed (signal %u at %lx, address %lx)\n", (unsigned)sig,
		        (unsigned long)g[REG_RIP], (unsigned long)addr);
		x_sys(SYS_exit_group, 70, 0, 0, 0, 0, 0);
	}
	if (sig == SIGABRT) {
		X.end = CONTROL_ABORT;
	} else {
		X.end = CONTROL_CRASH;
		X.end_addr = info->si_code > 0 ? addr : 0;
	}
	X.code = sig;
	X.end_pc = (uintptr_t)g[REG_RIP];
	/* Not from here: on the controller's stack, when the handler has returned. */
	g[REG_RSP] = (greg_t)(((uintptr_t)X.controller_sp & ~(uintptr_t)15) - 8);
	g[REG_RIP] = (greg_t)(uintptr_t)x_end_run;
}

struct kernel_action {
	void *fn;
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

static void handle(int sig, void (*fn)(int, siginfo_t *, void *))
{
	struct kernel_action a = { (void *)(uintptr_t)fn, SA_SIGINFO | SA_ONSTACK | SA_NODEFER | 0x04000000 /* SA_RESTORER */,
		                   x_return, 0 };
	x_sys(SYS_rt_sigaction, sig, (long)&a, 0, 8, 0, 0);
}

void x_signal_stack(void)
{
	enum { SIZE = 128 << 10 };
	long at = x_sys(SYS_mmap, 0, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	stack_t s = { .ss_sp = (void *)at, .ss_size = SIZE };
	x_sys(SYS_sigaltstack, (long)&s, 0, 0, 0, 0, 0);
}

/* Of the process that starts one for each run: both are its own, not shared. */
long x_server_pid, x_child_pid;

/*
 * The tool says that the run takes long. If it has come to a point since the last such signal it goes on; otherwise it is
 * taken to loop. When the time is over it is cut off.
 */
static void on_stall(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	greg_t *g = u->uc_mcontext.gregs;
	(void)info;
	if (x_server_pid && x_sys(SYS_getpid, 0, 0, 0, 0, 0, 0) == x_server_pid) {
		x_sys(SYS_kill, x_child_pid, sig, 0, 0, 0, 0);
		return;
	}
	if (!X.active)
		return;
	bool over = __atomic_load_n(&X.ctl->stop, __ATOMIC_RELAXED) == CONTROL_STOP_NOW;
	uint32_t steps = 0;
	sched_events(X.sched, &steps);
	if (!over && (X.probed_run != X.run || X.probed_steps != steps)) {
		X.probed_run = X.run;
		X.probed_steps = steps;
		X.ctl->beat++;
		return;
	}
	X.end_pc = (uintptr_t)g[REG_RIP];
	if (!over && X.end_pc - (uintptr_t)x_sys <= (uintptr_t)x_sys_end - (uintptr_t)x_sys) {
		X.end_pc = X.call_pc;
		x_give_up(CONTROL_WHY_UNSUPPORTED, "system call %u waits for something outside of the program", X.call);
	}
	X.end = over ? CONTROL_PRUNED : CONTROL_ENDLESS;
	if (over)
		X.ctl->late = 1;
	else
		rt_print(X.text, sizeof X.text, "a thread runs too long without a scheduling point (--stall)");
	g[REG_RSP] = (greg_t)(((uintptr_t)X.controller_sp & ~(uintptr_t)15) - 8);
	g[REG_RIP] = (greg_t)(uintptr_t)x_end_run;
}

void x_signals(void)
{
	/* What constructors have set up, before calls came here. */
	for (long sig = 1; sig <= 64; sig++) {
		struct kernel_action is = { 0 };
		if (x_sys(SYS_rt_sigaction, sig, 0, (long)&is, 8, 0, 0) == 0) {
			X.sig[sig].fn = (uint64_t)(uintptr_t)is.fn;
			X.sig[sig].flags = is.flags;
		}
	}
	x_signal_stack();
	handle(SIGXCPU, on_stall);
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP };
	for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++)
		handle(faults[i], on_fault);
	handle(SIGSYS, on_trap);
}

enum { DISPATCH = 59, DISPATCH_ON = 1, ALLOW = 0, BLOCK = 1 };

bool x_traps_here(void)
{
	return !x_sys(SYS_prctl, DISPATCH, DISPATCH_ON, (long)(uintptr_t)x_sys, (long)(x_sys_end - (char *)(uintptr_t)x_sys),
	              (long)&X.selector, 0);
}

bool x_traps(void)
{
	X.selector = ALLOW;
	X.traps = x_traps_here();
	return X.traps;
}

/* ---- output ---- */

void x_output(int fd, const void *p, size_t n)
{
	struct control *c = X.ctl;
	if (c->show_output) {
		x_sys(SYS_write, fd, (long)p, (long)n, 0, 0, 0);
		return;
	}
	size_t room = CONTROL_OUTPUT - X.nout;
	c->out_total += n;
	if (n > room)
		n = room;
	rt_copy(c->out + X.nout, p, n);
	X.nout += (uint32_t)n;
}

static long output_vector(int fd, const struct iovec *v, long n)
{
	long total = 0;
	for (long i = 0; i < n; i++) {
		x_output(fd, v[i].iov_base, v[i].iov_len);
		total += (long)v[i].iov_len;
	}
	return total;
}

/* ---- what a restart undoes ---- */

static bool fd_bit(const uint8_t *set, long fd)
{
	return fd >= 0 && fd < X_FDS && set[fd / 8] >> fd % 8 & 1;
}

static long made(long fd)
{
	if (fd < 0)
		return fd;
	if (fd >= X_FDS)
		x_give_up(CONTROL_WHY_RESTORE, "it opens more than %d descriptors", X_FDS);
	X.fd_made[fd / 8] |= (uint8_t)(1 << fd % 8);
	X.fds_dirty = true;
	return fd;
}

static long close_fd(long fd)
{
	if (fd < 0 || fd >= X_FDS)
		return -EBADF;
	if (fd_bit(X.fd_made, fd)) {
		X.fd_made[fd / 8] &= (uint8_t) ~(1 << fd % 8);
		return x_sys(SYS_close, fd, 0, 0, 0, 0, 0);
	}
	/* One from before main stays open, for the next run. */
	return x_sys(SYS_fcntl, fd, F_GETFD, 0, 0, 0, 0) < 0 ? -EBADF : 0;
}

/* The offset of a descriptor from before main is about to move. */
static void moves(long fd)
{
	if (fd < 0 || fd >= X_FDS || fd_bit(X.fd_made, fd) || fd_bit(X.fd_moved, fd))
		return;
	X.fd_offset[fd] = x_sys(SYS_lseek, fd, 0, SEEK_CUR, 0, 0, 0);
	X.fd_moved[fd / 8] |= (uint8_t)(1 << fd % 8);
	X.fds_dirty = true;
}

/* A process of its own for each run shares the offsets of what was open before main with the next one. What can be written to
 * keeps its offset: what a run has written stays. */
static off_t offset_at_main[X_FDS];

void x_offsets_note(void)
{
	for (long fd = 0; fd < X_FDS; fd++) {
		long flags = x_sys(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);
		bool read_only = flags >= 0 && (flags & O_ACCMODE) == O_RDONLY;
		offset_at_main[fd] = read_only ? x_sys(SYS_lseek, fd, 0, SEEK_CUR, 0, 0, 0) : -1;
	}
}

void x_offsets_restore(void)
{
	for (long fd = 0; fd < X_FDS; fd++)
		if (offset_at_main[fd] >= 0)
			x_sys(SYS_lseek, fd, offset_at_main[fd], SEEK_SET, 0, 0, 0);
}

void x_syscalls_restore(void)
{
	if (X.fds_dirty)
		for (long fd = 0; fd < X_FDS; fd++) {
			if (fd_bit(X.fd_made, fd))
				x_sys(SYS_close, fd, 0, 0, 0, 0, 0);
			if (fd_bit(X.fd_moved, fd) && X.fd_offset[fd] >= 0)
				x_sys(SYS_lseek, fd, X.fd_offset[fd], SEEK_SET, 0, 0, 0);
			X.fd_made[fd / 8] &= (uint8_t) ~(1 << fd % 8);
			X.fd_moved[fd / 8] &= (uint8_t) ~(1 << fd % 8);
		}
	X.fds_dirty = false;
	for (; X.nmaps; X.nmaps--)
		x_sys(SYS_munmap, (long)X.map[X.nmaps - 1].at, (long)X.map[X.nmaps - 1].size, 0, 0, 0, 0);
	X.map_top = X_MAPPED;
}

/* ---- mappings ---- */

static long map(const long a[6])
{
	size_t size = ((size_t)a[1] + 4095) & ~(size_t)4095;
	long flags = a[3], at = a[0];
	if (X.ctl->mode == CONTROL_SNAPSHOT) {
		if (flags & MAP_SHARED && !(flags & MAP_ANONYMOUS) && a[2] & PROT_WRITE)
			x_give_up(CONTROL_WHY_RESTORE, "it maps a file that it can write to");
		if (flags & MAP_FIXED)
			x_give_up(CONTROL_WHY_RESTORE, "it maps memory at an address of its own");
		if (X.nmaps == X_MAPS)
			x_give_up(CONTROL_WHY_RESTORE, "it maps memory more than %d times", X_MAPS);
		if (!at && X.map_top + size < X_MAPPED + X_MAP_SIZE) {
			at = (long)X.map_top;
			flags |= MAP_FIXED_NOREPLACE;
			X.map_top += size + 4096;
		}
	}
	long p = x_sys(SYS_mmap, at, a[1], a[2], flags, a[4], a[5]);
	if (p > 0 && X.ctl->mode == CONTROL_SNAPSHOT) {
		X.map[X.nmaps].at = (uintptr_t)p;
		X.map[X.nmaps++].size = size;
	}
	return p;
}

static long unmap(const long a[6])
{
	if (X.ctl->mode != CONTROL_SNAPSHOT)
		return x_sys(SYS_munmap, a[0], a[1], 0, 0, 0, 0);
	for (uint32_t i = 0; i < X.nmaps; i++)
		if (X.map[i].at == (uintptr_t)a[0] && X.map[i].size == (((size_t)a[1] + 4095) & ~(size_t)4095)) {
			X.map[i] = X.map[--X.nmaps];
			return x_sys(SYS_munmap, a[0], a[1], 0, 0, 0, 0);
		}
	return 0; /* from before main, or a part: it stays until the restart */
}

/* ---- signals: handlers are noted; raise runs them ---- */

static long action(const long a[6])
{
	long sig = a[0];
	if (sig <= 0 || sig > 64)
		return -EINVAL;
	const struct kernel_action *new = (const void *)a[1];
	struct kernel_action *old = (void *)a[2];
	if (old) {
		*old = (struct kernel_action){ .fn = (void *)X.sig[sig].fn, .flags = X.sig[sig].flags };
	}
	if (new) {
		X.sig[sig].fn = (uint64_t)(uintptr_t) new->fn;
		X.sig[sig].flags = new->flags;
		X.sigs_dirty = true;
	}
	return 0;
}

static long raised(long sig, uintptr_t pc)
{
	if (!sig)
		return 0;
	if (sig < 0 || sig > 64)
		return -EINVAL;
	uint64_t fn = X.sig[sig].fn;
	if (fn == (uint64_t)(uintptr_t)SIG_IGN || (!fn && (sig == SIGCHLD || sig == SIGURG || sig == SIGWINCH || sig == SIGCONT)))
		return 0;
	if (fn) {
		siginfo_t info = { .si_signo = (int)sig, .si_code = SI_TKILL };
		ucontext_t u;
		__builtin_memset(&u, 0, sizeof u);
		((void (*)(int, siginfo_t *, void *))(uintptr_t)fn)((int)sig, &info, &u);
		if (sig != SIGABRT)
			return 0;
	}
	X.code = (int)sig;
	X.end_pc = pc;
	X.end = sig == SIGABRT ? CONTROL_ABORT : CONTROL_CRASH;
	x_end_run();
}

/* ---- the calls ---- */

static long pass(long nr, const long a[6])
{
	return x_sys(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static long into_memory(long nr, const long a[6])
{
	long r = pass(nr, a);
	if (r != -EFAULT)
		return r;
	for (int i = 0; i < 6; i++) /* the page it would write to is protected: the first write to it */
		x_snapshot_touch((uintptr_t)a[i], 4096);
	return pass(nr, a);
}

static long pair(long nr, const long a[6], int *fds)
{
	x_snapshot_touch((uintptr_t)fds, 8);
	long r = pass(nr, a);
	if (!r) {
		made(fds[0]);
		made(fds[1]);
	}
	return r;
}

static long read_fd(long nr, const long a[6])
{
	moves(a[0]);
	if (nr == SYS_readv || nr == SYS_preadv) {
		const struct iovec *v = (const struct iovec *)a[1];
		for (long i = 0; i < a[2]; i++)
			x_snapshot_touch((uintptr_t)v[i].iov_base, v[i].iov_len);
	} else {
		x_snapshot_touch((uintptr_t)a[1], (size_t)a[2]);
	}
	return pass(nr, a);
}

static long random_bytes(void *to, long n)
{
	uint8_t *p = to;
	struct x_thread *t = x_me();
	for (long i = 0; i < n; i++)
		p[i] = (uint8_t)mix64(++t->nrandom + ((uint64_t)X.current << 32));
	return n;
}

/* /dev/random or /dev/urandom */
static bool is_random(long fd)
{
	struct stat st;
	return x_sys(SYS_fstat, fd, (long)&st, 0, 0, 0, 0) == 0 && S_ISCHR(st.st_mode) &&
	       (st.st_rdev == makedev(1, 8) || st.st_rdev == makedev(1, 9));
}

static long open_file(long nr, const long a[6], uintptr_t pc)
{
	long flags = nr == SYS_open ? a[1] : a[2];
	const char *path = (const char *)(nr == SYS_open ? a[0] : a[1]);
	if (X.ctl->mode == CONTROL_SNAPSHOT && (flags & O_ACCMODE) != O_RDONLY && !rt_same(path, "/dev/null") &&
	    !rt_same(path, "/dev/tty")) {
		X.end_pc = pc;
		x_give_up(CONTROL_WHY_RESTORE, "it opens '%s' for writing", path);
	}
	return made(pass(nr, a));
}

static _Noreturn void cannot(const char *what, uintptr_t pc)
{
	X.end_pc = pc;
	x_give_up(X.ctl->mode == CONTROL_SNAPSHOT ? CONTROL_WHY_RESTORE : CONTROL_WHY_UNSUPPORTED, "%s", what);
}

static long sleeps(long nr, const long a[6], uintptr_t pc)
{
	const struct timespec *ts = (const void *)(nr == SYS_nanosleep ? a[0] : a[2]);
	uint64_t ns = x_deadline(CLOCK_MONOTONIC, ts);
	if (nr == SYS_clock_nanosleep && a[1] & 1 /* TIMER_ABSTIME */) {
		uint64_t at = x_deadline((clockid_t)a[0], ts);
		ns = at > x_me()->now ? at - x_me()->now : 0;
	}
	x_sleep(ns, pc);
	return 0;
}

/* Simulated, or undone at the restart, or harmless: true. */
static bool known(long nr, const long a[6], uintptr_t pc, long *r)
{
	switch (nr) {
	case SYS_write:
		if (a[0] != 1 && a[0] != 2)
			return false;
		x_output((int)a[0], (const void *)a[1], (size_t)a[2]);
		*r = a[2];
		return true;
	case SYS_writev:
		if (a[0] != 1 && a[0] != 2)
			return false;
		*r = output_vector((int)a[0], (const void *)a[1], a[2]);
		return true;
	case SYS_futex:
		*r = x_futex((uint32_t *)a[0], (int)a[1], (uint32_t)a[2], (const void *)a[3], (uint32_t *)a[4], (uint32_t)a[5], pc);
		return true;
	case SYS_exit_group:
	case SYS_exit:
		x_exit((int)a[0], pc);
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
		*r = sleeps(nr, a, pc);
		return true;
	case SYS_sched_yield:
		x_yield(pc);
		*r = 0;
		return true;
	case SYS_getrandom:
		*r = random_bytes((void *)a[0], a[1]);
		return true;
	case SYS_read:
		if (!is_random(a[0]))
			return false;
		*r = random_bytes((void *)a[1], a[2]);
		return true;
	case SYS_rt_sigaction:
		*r = action(a);
		return true;
	case SYS_rt_sigprocmask: /* per thread; nothing comes by itself */
		if (a[2])
			*(uint64_t *)a[2] = x_me()->sigmask;
		if (a[1])
			x_me()->sigmask = a[0] == SIG_BLOCK     ? x_me()->sigmask | *(uint64_t *)a[1]
			                  : a[0] == SIG_UNBLOCK ? x_me()->sigmask & ~*(uint64_t *)a[1]
			                                        : *(uint64_t *)a[1];
		*r = 0;
		return true;
	case SYS_sigaltstack:
	case SYS_set_robust_list:
	case SYS_rseq:
		*r = 0;
		return true;
	case SYS_tgkill:
		*r = raised(a[2], pc);
		return true;
	case SYS_tkill:
		*r = raised(a[1], pc);
		return true;
	case SYS_kill:
		if (!x_own_process(a[0]))
			return false;
		*r = raised(a[1], pc);
		return true;
	case SYS_mmap:
		*r = map(a);
		return true;
	case SYS_munmap:
		*r = unmap(a);
		return true;
	case SYS_brk:
		*r = pass(nr, (const long[6]){ 0, 0, 0, 0, 0, 0 });
		return true;
	case SYS_membarrier:
		*r = a[0] ? 0 : 0x3f;
		return true;
	}
	return false;
}

/* For a snapshot: undone at the restart, or without effect. */
static bool undone(long nr, const long a[6], uintptr_t pc, long *r)
{
	switch (nr) {
	case SYS_open:
	case SYS_openat:
		*r = open_file(nr, a, pc);
		return true;
	case SYS_close:
		*r = close_fd(a[0]);
		return true;
	case SYS_read:
	case SYS_readv:
	case SYS_pread64:
	case SYS_preadv:
		*r = read_fd(nr, a);
		return true;
	case SYS_lseek:
		moves(a[0]);
		*r = pass(nr, a);
		return true;
	case SYS_pipe:
	case SYS_pipe2:
		*r = pair(nr, a, (int *)a[0]);
		return true;
	case SYS_socketpair:
		*r = pair(nr, a, (int *)a[3]);
		return true;
	case SYS_write:
	case SYS_writev: /* to what was opened in this run, and so is no file */
		if (!fd_bit(X.fd_made, a[0]))
			return false;
		*r = pass(nr, a);
		return true;
	case SYS_dup:
	case SYS_memfd_create:
	case SYS_eventfd2:
	case SYS_epoll_create1:
		*r = made(pass(nr, a));
		return true;
	case SYS_epoll_ctl: /* of one that is closed at the restart */
		if (!fd_bit(X.fd_made, a[0]))
			return false;
		*r = pass(nr, a);
		return true;
	case SYS_fcntl:
		*r = a[1] == F_DUPFD || a[1] == F_DUPFD_CLOEXEC ? made(pass(nr, a)) : into_memory(nr, a);
		return true;
	case SYS_madvise:
		if (a[2] == MADV_DONTNEED && X.nregions) {
			x_snapshot_touch((uintptr_t)a[0], (size_t)a[1]);
			__builtin_memset((void *)a[0], 0, (size_t)a[1]);
			*r = 0;
			return true;
		}
		*r = pass(nr, a);
		return true;
	case SYS_mprotect: /* of what was there before main: ignored, so that the snapshot's own stays */
		*r = (uintptr_t)a[0] >= X_MAPPED && (uintptr_t)a[0] < X_MAPPED + X_MAP_SIZE ? pass(nr, a) : 0;
		return true;
	case SYS_ioctl:
		*r = a[1] == 0x5401 /* TCGETS */ ? -ENOTTY : into_memory(nr, a);
		return true;
	case SYS_stat:
	case SYS_fstat:
	case SYS_lstat:
	case SYS_newfstatat:
	case SYS_statx:
	case SYS_access:
	case SYS_faccessat:
	case SYS_faccessat2:
	case SYS_readlink:
	case SYS_readlinkat:
	case SYS_getcwd:
	case SYS_getdents64:
	case SYS_uname:
	case SYS_sysinfo:
	case SYS_getrlimit:
	case SYS_prlimit64:
	case SYS_getrusage:
	case SYS_times:
	case SYS_sched_getaffinity:
	case SYS_getuid:
	case SYS_geteuid:
	case SYS_getgid:
	case SYS_getegid:
	case SYS_getpgrp:
	case SYS_getpgid:
	case SYS_getsid:
	case SYS_getgroups:
	case SYS_clock_gettime:
	case SYS_clock_getres:
	case SYS_gettimeofday:
	case SYS_time:
	case SYS_prctl:
	case SYS_arch_prctl:
	case SYS_statfs:
	case SYS_fstatfs:
	case SYS_sched_getparam:
	case SYS_sched_getscheduler:
	case SYS_getpriority:
	case SYS_sched_get_priority_max:
	case SYS_sched_get_priority_min:
	case SYS_sched_getattr:
	case SYS_sched_rr_get_interval:
	case SYS_mincore:
	case SYS_mlock:
	case SYS_munlock:
	case SYS_getresuid:
	case SYS_getresgid:
	case SYS_umask:
	case SYS_getxattr:
	case SYS_setpriority:
	case SYS_set_tid_address:
		*r = into_memory(nr, a);
		return true;
	}
	return false;
}

/* Is there from now on a descriptor that becomes ready without a thread of the program? Even if it is one of its own sockets: not
 * all that is sent has arrived when the call returns. */
static bool opens_to_outside(long nr, const long a[6])
{
	switch (nr) {
	case SYS_socket:
		return a[0] != AF_UNIX;
	case SYS_connect:
	case SYS_bind:
	case SYS_timerfd_create:
	case SYS_signalfd:
	case SYS_signalfd4:
	case SYS_inotify_init:
	case SYS_inotify_init1:
	case SYS_io_uring_setup:
	case SYS_pidfd_open:
		return true;
	}
	return false;
}

long x_syscall(long nr, const long given[6], uintptr_t pc)
{
	long r = -ENOSYS, a[6] = { given[0], given[1], given[2], given[3], given[4], given[5] };
	if (nr == SYS_clone || nr == SYS_clone3) {
		uint64_t flags = nr == SYS_clone ? (uint64_t)a[0] : *(uint64_t *)a[0];
		if (flags & CLONE_VM && !(flags & CLONE_VFORK))
			X.end_pc = pc, x_give_up(CONTROL_WHY_UNSUPPORTED, "a thread is created by a direct system call (clone)");
		nr = SYS_fork;
	}
	if (nr == SYS_fork || nr == SYS_vfork || nr == SYS_execve) {
		X.end_pc = pc;
		x_give_up(CONTROL_WHY_UNSUPPORTED, nr == SYS_execve ? "it executes another program" : "it forks a process");
	}
	if (known(nr, a, pc, &r) || x_identity(nr, a, &r))
		return r;
	X.call = (uint32_t)nr;
	X.call_pc = pc;
	x_me()->call = (uint16_t)nr;
	if (x_multiplex(nr, a, pc, &r))
		return r;
	x_io_point(nr, a, pc);
	if (X.ctl->mode != CONTROL_SNAPSHOT) {
		X.outside |= opens_to_outside(nr, a);
		return pass(nr, a);
	}
	if (undone(nr, a, pc, &r))
		return r;
	char what[64];
	const char *name = sched_call_name(nr);
	if (name)
		rt_print(what, sizeof what, "it calls %s", name);
	else
		rt_print(what, sizeof what, "it makes system call %u", (unsigned)nr);
	cannot(what, pc);
}
