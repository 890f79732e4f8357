/*
 * report: findings leave the program as text with raw addresses and the list
 * of loaded files; `intact` symbolises and prints them elsewhere.
 *
 * Under `intact run` each message is a datagram to its socket, opened for the
 * occasion: no descriptor of ours stays in the program. Otherwise, at the
 * end, `intact symbolize` is started with the message in a pipe; it is no
 * child that wait() would see. Without it the addresses are printed as they
 * are.
 */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dynamic/findings.h"
#include "rt.h"

enum { MAX_MODULES = 4096 };

static struct message out;
static struct spin out_lock;
static uint32_t shown;

uint32_t rt_shown(void)
{
	return shown;
}

void rt_report_forked(void)
{
	out_lock.held = 0;
	shown = 0;
}

/* ---- modules ---- */

static uintptr_t hex(const char **s)
{
	uintptr_t v = 0;
	for (; (**s >= '0' && **s <= '9') || (**s >= 'a' && **s <= 'f'); ++*s)
		v = v * 16 + (uintptr_t)(**s <= '9' ? **s - '0' : **s - 'a' + 10);
	return v;
}

/* The file mapped at `lo`, from /proc: the loader keeps the name it
 * was given, which may be relative to a directory the program has left. */
static bool mapped_file(uintptr_t lo, char *name, size_t size)
{
	static char text[8192]; /* under modules_lock */
	size_t n = 0;
	long fd = syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/maps", O_RDONLY | O_CLOEXEC), got;
	bool found = false;
	while (fd >= 0 && !found && (got = syscall(SYS_read, fd, text + n, sizeof text - 1 - n)) > 0) {
		n += (size_t)got;
		text[n] = 0;
		char *line = text, *end;
		while (!found && (end = __builtin_strchr(line, '\n'))) {
			*end = 0;
			const char *p = line;
			char *path = __builtin_strchr(line, '/');
			if (hex(&p) == lo && path) {
				rt_print(name, size, "%s", path);
				found = true;
			}
			line = end + 1;
		}
		n = (size_t)(text + n - line);
		__builtin_memmove(text, line, n);
		if (n == sizeof text - 1)
			n = 0; /* a line that long is none of ours */
	}
	if (fd >= 0)
		syscall(SYS_close, fd);
	return found;
}

static int see_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	uintptr_t lo = ~(uintptr_t)0, hi = 0;
	(void)size;
	(void)arg;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type != PT_LOAD)
			continue;
		uintptr_t at = info->dlpi_addr + p->p_vaddr;
		if (at < lo)
			lo = at;
		if (at + p->p_memsz > hi)
			hi = at + p->p_memsz;
	}
	for (uint32_t i = 0; i < rt.nmodules; i++) {
		struct rt_module *m = &rt.modules[i];
		if (m->lo == lo && m->hi == hi && m->base == info->dlpi_addr) {
			m->gone = false;
			return 0;
		}
	}
	if (hi <= lo || rt.nmodules == MAX_MODULES)
		return 0;
	const char *name = info->dlpi_name;
	static char exe[4096]; /* under modules_lock */
	if (!name || !*name) {
		if (rt.nmodules)
			return 0; /* the vdso */
		name = rt.exe;
	} else if (name[0] != '/' && mapped_file(lo & ~(uintptr_t)4095, exe, sizeof exe)) {
		name = exe;
	}
	rt.modules[rt.nmodules++] = (struct rt_module){
		info->dlpi_addr, lo, hi, rt_strdup(name, rt_length(name)), false
	};
	if (rec_try(me)) {
		rec_module(&rt.modules[rt.nmodules - 1]);
		rec_end();
	}
	return 0;
}

void rt_modules(void)
{
	int busy = me->busy; /* rt_nobody's is always set: the last thread's end has no other */
	me->busy = 1;
	spin_lock(&rt.modules_lock);
	for (uint32_t i = 0; i < rt.nmodules; i++)
		rt.modules[i].gone = true;
	dl_iterate_phdr(see_module, NULL);
	for (uint32_t i = 0; i < rt.nmodules; i++)
		if (rt.modules[i].gone) {
			struct rt_module *m = &rt.modules[i];
			bool rec = rec_try(me);
			if (rec)
				rec_forget(me, m->lo, m->hi - m->lo);
			shadow_reset(&rt_dyn.shadow, m->lo, m->hi - m->lo);
			lock_forget(&rt_dyn.locks, m->lo, m->hi - m->lo);
			if (rec)
				rec_end();
		}
	spin_unlock(&rt.modules_lock);
	me->busy = busy;
}

/* ---- messages ---- */

static bool compose(bool final)
{
	out.created = rt.created;
	out.parent = rt.parent;
	out.nthreads = RT_UIDS;
	message_begin(&out, rt.pid, final);
	for (uint32_t i = 0; i < rt.nmodules; i++) {
		const struct rt_module *m = &rt.modules[i];
		message_module(&out, &(struct message_module){ m->lo, m->hi, m->base, m->path });
	}
	return message_findings(&out, &rt_dyn, final, rt.opt.report_loops);
}

/* ---- ways out ---- */

static bool send_datagram(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t len = rt_length(rt.opt.socket);
	if (!len || len >= sizeof to.sun_path)
		return false;
	rt_copy(to.sun_path, rt.opt.socket, len);
	long fd = syscall(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	int room = MESSAGE_SIZE * 2;
	syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
	long r;
	do
		r = syscall(SYS_sendto, fd, out.text, out.n, MSG_NOSIGNAL, &to, sizeof to);
	while (r < 0 && errno == EINTR);
	syscall(SYS_close, fd);
	return r == (long)out.n;
}

/* In the process between: start the tool, wait, pass its status on. */
static _Noreturn void between(const char *tool, const int fd[2])
{
	char *argv[] = { (char *)(uintptr_t)tool, "symbolize", NULL };
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	uint64_t none = 0;
	int status = 0;
	REAL(sigaction)(SIGCHLD, &dfl, NULL); /* ignored, it could not be waited for */
	long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0) {
		syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, 8);
		if (fd[0] == 0) /* the program had closed its own */
			syscall(SYS_fcntl, 0, F_SETFD, 0);
		else
			syscall(SYS_dup2, fd[0], 0);
		syscall(SYS_execve, tool, argv, environ ? environ : rt_environ);
		syscall(SYS_exit_group, 127);
	}
	syscall(SYS_close, fd[0]);
	syscall(SYS_close, fd[1]);
	while (pid > 0 && syscall(SYS_wait4, pid, &status, __WALL, NULL) < 0 && errno == EINTR)
		;
	for (;;)
		syscall(SYS_exit_group, pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 127);
}

static void write_message(int fd)
{
	sigset_t pipe_set, old;
	struct timespec now = { 0, 0 };
	sigemptyset(&pipe_set);
	sigaddset(&pipe_set, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe_set, &old);
	for (size_t at = 0; at < out.n;) {
		long w = syscall(SYS_write, fd, out.text + at, out.n - at);
		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0 && errno == EPIPE)
			sigtimedwait(&pipe_set, NULL, &now);
		if (w <= 0)
			break;
		at += (size_t)w;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* `intact symbolize`, fed through a pipe. Returns its exit status, -1. A
 * process between us and it has no exit signal (exec would set one): the
 * program's wait() and SIGCHLD know nothing of either. */
static int start_tool(const char *tool)
{
	int fd[2], status = -1;
	if (syscall(SYS_pipe2, fd, O_CLOEXEC))
		return -1;
	long pid = syscall(SYS_clone, 0, 0, 0, 0, 0);
	if (pid == 0)
		between(tool, fd);
	syscall(SYS_close, fd[0]);
	if (pid > 0)
		write_message(fd[1]);
	syscall(SYS_close, fd[1]);
	while (pid > 0 && syscall(SYS_wait4, pid, &status, __WALL, NULL) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

extern const char __intact_tool[] __attribute__((weak));

static void print_raw(void)
{
	rt_say("==================\nIntact: the tool that symbolises reports "
	       "(intact) was not found; set INTACT_OPTIONS=tool=PATH.\n"
	       "The report as it is:\n");
	rt_say(out.text);
	rt_say("==================\n");
}

void rt_flush(bool final)
{
	if (!rt.on || (!*rt.opt.socket && !rt.opt.atexit_report))
		return;
	bool any = false;
	for (uint32_t i = 1; i < rt_dyn.nfindings; i++)
		any |= finding_counts(&rt_dyn.findings[i], final);
	if (!any)
		return;
	rt_modules();
	spin_lock(&out_lock);
	if (!out.text)
		out.text = pages_map(MESSAGE_SIZE);
	if (out.text && compose(final) && !(*rt.opt.socket && !rt.opt.halt_on_error && send_datagram())) {
		const char *tool = *rt.opt.tool ? rt.opt.tool : NULL;
		int r = -1;
		if (!tool)
			tool = rt_env("INTACT_TOOL");
		if (!tool && __intact_tool)
			tool = __intact_tool;
		if (tool && *tool)
			r = start_tool(tool);
		if (r == 127 || r < 0) {
			print_raw();
			shown = 1;
		} else if (r == 1) {
			shown = 1;
		}
	}
	spin_unlock(&out_lock);
}

/* The section of functions marked in the source; the linker gives its ends. */
extern char __start_intact_atomic_fns[] __attribute__((weak, visibility("hidden")));
extern char __stop_intact_atomic_fns[] __attribute__((weak, visibility("hidden")));

bool rt_in_section(uintptr_t fn)
{
	return fn - (uintptr_t)__start_intact_atomic_fns <
	       (uintptr_t)__stop_intact_atomic_fns - (uintptr_t)__start_intact_atomic_fns;
}

/* INTACT_ATOMIC_FUNCTIONS: offsets in the executable, from `intact run`. */
void rt_load_atomic_fns(void)
{
	const char *s = rt_env("INTACT_ATOMIC_FUNCTIONS");
	if (!s)
		s = "";
	if (!*s && (uintptr_t)__start_intact_atomic_fns == (uintptr_t)__stop_intact_atomic_fns)
		return;
	rt_modules();
	uintptr_t base = rt.nmodules ? rt.modules[0].base : 0;
	uintptr_t *table = pages_map(4096 * sizeof *table);
	unsigned n = 0;
	while (table && *s && n < 2048) {
		uintptr_t v = 0;
		for (; (*s >= '0' && *s <= '9') || (*s >= 'a' && *s <= 'f'); s++)
			v = v * 16 + (uintptr_t)(*s <= '9' ? *s - '0' : *s - 'a' + 10);
		if (*s == ',')
			s++;
		else if (*s)
			break;
		uint32_t i = (uint32_t)mix64(base + v) % 4096;
		while (table[i])
			i = (i + 1) % 4096;
		table[i] = base + v;
		n++;
	}
	rt.marks = true;
	rt.atomic_fns = table;
	me->room = NULL; /* as all threads from here on: every entry is looked at */
}
