/*
 * process: fork, exec and unloading.
 *
 * A forked child is one thread with all that was known; locks of the runtime
 * that other threads held at that moment are released. Before exec the
 * findings are reported, because the runtime does not survive it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rt.h"

static bool forking; /* by our own fork(), which sees to the recording */

static void in_child(void)
{
	rt.pid = (int)syscall(SYS_getpid);
	if (!rt.on)
		return;
	rt_report_forked();
	rt_dyn.lock.held = rt_dyn.bump.lock.held = rt_dyn.sets.lock.held = 0;
	rt_dyn.shadow.grow.held = rt_dyn.shadow.ext_lock.held = 0;
	rt.threads_lock.held = rt.modules_lock.held = 0;
	for (unsigned i = 0; i < 64; i++)
		rt_dyn.stacks.lock[i].held = rt_dyn.locks.spin[i].held = 0;
	rt_atomics_forked();
	for (uint32_t i = 1; i < rt_dyn.locks.n; i++)
		rt_dyn.locks.locks[i].spin.held = 0;
	for (uint32_t i = 1; i < rt.nslots; i++) {
		struct rt_thread *th = rt.threads[i];
		if (!th || th == me)
			continue;
		rt.slot_epoch[i] = th->t.acc.epoch + 1;
		rt.threads[i] = NULL;
	}
	rt.live = 1;
	rt.inherited = rt.uids - 1;
	reach_forked(&rt_dyn.reach, me->t.tid);
	races_forked(&rt_dyn.races);
	hazards_forked(&rt_dyn.hazards);
	/* What the parent found is the parent's to tell. */
	for (uint32_t i = 1; i < rt_dyn.nfindings; i++) {
		struct finding *f = &rt_dyn.findings[i];
		f->sent = false;
		f->count = 0;
	}
	rt_dyn.nlost = 0;
	rt.nready = rt_dyn.ready;
}

/* Of every fork of the C library's, daemon() and forkpty() among them. */
static void forked(void)
{
	in_child();
	if (!forking && rt.recording)
		rec_after_fork(true, 0);
}

void rt_process_init(void)
{
	pthread_atfork(NULL, NULL, forked);
}

EXPORT pid_t _Fork(void)
{
	pid_t pid = REAL(_Fork)();
	if (pid == 0)
		forked();
	return pid;
}

EXPORT pid_t fork(void)
{
	struct rt_thread *th = me;
	bool mine = th != &rt_nobody && !th->busy;
	if (mine)
		th->busy = 1;
	bool rec = mine && rec_before_fork(th);
	int parent = rt.pid;
	forking = true; /* two at once: both see to their own child */
	pid_t pid = REAL(fork)();
	forking = false;
	if (rec || (!pid && rt.recording))
		rec_after_fork(pid == 0, rec ? parent : 0);
	if (mine) {
		int keep = errno;
		th->busy = 0;
		if (th->pending)
			rt_deliver(th);
		errno = keep;
	}
	return pid;
}

static void before_exec(void)
{
	if (!rt.on || (int)syscall(SYS_getpid) != rt.pid)
		return;
	int busy = me->busy, keep = errno;
	me->busy = 1;
	rec_finish();
	rt_flush(false);
	rt_status_end();
	me->busy = busy;
	errno = keep;
}

static int exec_path(const char *path, char *const argv[], char *const env[])
{
	before_exec();
	return (int)syscall(SYS_execve, path, argv, env);
}

/* By the PATH. */
static int exec_file(const char *file, char *const argv[])
{
	before_exec();
	return REAL(execvp)(file, argv);
}

EXPORT int execve(const char *path, char *const argv[], char *const env[])
{
	return exec_path(path, argv, env);
}

EXPORT int execv(const char *path, char *const argv[])
{
	return exec_path(path, argv, environ);
}

EXPORT int execvp(const char *file, char *const argv[])
{
	return exec_file(file, argv);
}

EXPORT int execvpe(const char *file, char *const argv[], char *const env[])
{
	before_exec();
	return REAL(execvpe)(file, argv, env);
}

EXPORT int fexecve(int fd, char *const argv[], char *const env[])
{
	before_exec();
	return REAL(fexecve)(fd, argv, env);
}

#define COLLECT                                                 \
	va_list ap;                                             \
	size_t n = 1;                                           \
	va_start(ap, arg);                                      \
	while (va_arg(ap, char *))                              \
		n++;                                            \
	va_end(ap);                                             \
	char **argv = __builtin_alloca((n + 1) * sizeof *argv); \
	argv[0] = (char *)(uintptr_t)arg;                       \
	va_start(ap, arg);                                      \
	for (size_t i = 1; i <= n; i++)                         \
	argv[i] = va_arg(ap, char *)

EXPORT int execl(const char *path, const char *arg, ...)
{
	COLLECT;
	va_end(ap);
	return exec_path(path, argv, environ);
}

EXPORT int execlp(const char *file, const char *arg, ...)
{
	COLLECT;
	va_end(ap);
	return exec_file(file, argv);
}

EXPORT int execle(const char *path, const char *arg, ...)
{
	COLLECT;
	char *const *env = va_arg(ap, char *const *);
	va_end(ap);
	return exec_path(path, argv, env);
}

/* The caller decides where the loader looks, so its return address must stay:
 * dlopen jumps on to the real one. */
typedef void *dlopen_fn(const char *, int);
__attribute__((used)) dlopen_fn *rt_dlopen(const char *path);
__attribute__((used)) dlopen_fn *rt_dlopen(const char *path)
{
	rt_before_load(path);
	return REAL(dlopen);
}
__asm__(".pushsection .text\n.weak dlopen\n.type dlopen, @function\ndlopen:\n"
        "push %rdi\npush %rsi\nsub $8, %rsp\ncall rt_dlopen\nadd $8, %rsp\npop %rsi\npop %rdi\n"
        "jmp *%rax\n.size dlopen, .-dlopen\n.popsection");

/* Stacks may point into what is about to go: note where it was. */
EXPORT int dlclose(void *handle)
{
	if (rt.on)
		rt_modules();
	int r = REAL(dlclose)(handle);
	if (rt.on)
		rt_modules();
	return r;
}
