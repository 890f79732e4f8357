/*
 * report: findings leave the program as text with raw addresses and the list
 * of loaded files; `intact` symbolises and prints them elsewhere.
 *
 * Under `intact run` each piece of a message is a datagram to its socket, opened
 * for the occasion: no descriptor of ours stays in the program. A finding is sent
 * when it is there, so that the program may die any time; later only what has
 * changed. Otherwise, at the end, `intact symbolize` is started with the message
 * in a pipe; it is no child that wait() would see. Without it the addresses are
 * printed as they are.
 */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dynamic/findings.h"
#include "event/record.h"
#include "rt.h"

enum { MOVED_APART = 1 << 28 }; /* pages: more than a module has */

static struct message out;
static struct spin out_lock;
static uint32_t shown;
static uint32_t modules_lost; /* beyond RT_MODULES */

uint32_t rt_shown(void)
{
	return shown;
}

void rt_report_forked(void)
{
	out_lock.held = 0;
	rt_perturb_forked();
	shown = 0;
	for (uint32_t i = 0; i < rt.nmodules; i++)
		rt.modules[i].told = false; /* by another process */
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
			n = 0; /* no line of the runtime is that long */
	}
	if (fd >= 0)
		syscall(SYS_close, fd);
	return found;
}

/*
 * Modules that are unloaded stay listed, because stacks lead into their code. They stay
 * where they were until something else may be loaded there (rt_before_load, or late,
 * when it is seen there); then they and the stacks move out of the address space. One
 * that was moved before, and was loaded again, moves to the same place.
 */
static void move_out(uint32_t index)
{
	struct rt_module *m = &rt.modules[index], *before = NULL;
	for (uint32_t i = 0; i < rt.nmodules && !before; i++)
		if (rt.modules[i].moved && rt.modules[i].hi - rt.modules[i].lo == m->hi - m->lo &&
		    rt_same(rt.modules[i].path, m->path))
			before = &rt.modules[i];
	uint64_t page = before ? (before->lo - REC_MOVED) / 4096 : (uint64_t)rt.nmoved * MOVED_APART;
	uint64_t delta = rec_moved_to(m->lo, page) - m->lo;
	bool rec = rec_try(me);
	bool used = dynamic_move(&rt_dyn, m->lo, m->hi, delta);
	if (rec) {
		rec_moved(m->lo, page);
		rec_end();
	}
	spin_lock(&rt.threads_lock);
	for (uint32_t i = 1; used && i < rt.nslots; i++)
		if (rt.threads[i])
			red_moved(&rt.threads[i]->t);
	for (struct rt_thread *th = rt.free; used && th; th = th->next)
		red_moved(&th->t);
	spin_unlock(&rt.threads_lock);
	if (!used || before) { /* nothing leads to it, or it is listed there */
		for (uint32_t i = index; i + 1 < rt.nmodules; i++)
			rt.modules[i] = rt.modules[i + 1];
		rt.nmodules--;
		return;
	}
	m->moved = true;
	m->told = false;
	m->base += delta;
	m->lo += delta;
	m->hi += delta;
	rt.nmoved++;
}

static const char *last_part(const char *path)
{
	const char *part = path;
	for (; *path; path++)
		if (*path == '/')
			part = path + 1;
	return part;
}

/* Some are gone and not moved, and not the file that is to be loaded (NULL: whatever). */
static void move_gone(const char *path, uintptr_t lo, uintptr_t hi)
{
	for (uint32_t i = rt.nmodules; i; i--) {
		struct rt_module *m = &rt.modules[i - 1];
		if (m->gone && !m->moved && m->lo < hi && m->hi > lo && !(path && rt_same(last_part(path), last_part(m->path))))
			move_out(i - 1);
	}
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
	const char *name = info->dlpi_name;
	static char exe[4096]; /* under modules_lock */
	for (uint32_t i = 0; i < rt.nmodules; i++) {
		struct rt_module *m = &rt.modules[i];
		if (m->lo == lo && m->hi == hi && m->base == info->dlpi_addr &&
		    (!m->gone || !name || rt_same(last_part(name), last_part(m->path)))) {
			m->there = true;
			return 0;
		}
	}
	if (hi <= lo)
		return 0;
	move_gone(NULL, lo, hi);
	if (rt.nmodules == RT_MODULES) {
		modules_lost++;
		return 0;
	}
	if (!name || !*name) {
		if (rt.nmodules)
			return 0; /* the vdso */
		name = rt.exe;
	} else if (name[0] != '/' && mapped_file(lo & ~(uintptr_t)4095, exe, sizeof exe)) {
		name = exe;
	}
	rt.modules[rt.nmodules++] = (struct rt_module){
		.base = info->dlpi_addr, .lo = lo, .hi = hi, .path = rt_strdup(name, rt_length(name)), .there = true
	};
	if (rec_try(me)) {
		rec_module(&rt.modules[rt.nmodules - 1]);
		rec_end();
	}
	return 0;
}

/* Its data no longer belongs to any thread. */
static void forget_module(const struct rt_module *m)
{
	bool rec = rec_try(me);
	if (rec)
		rec_forget(me, m->lo, m->hi - m->lo);
	shadow_reset(&rt_dyn.shadow, m->lo, m->hi - m->lo);
	lock_forget(&rt_dyn.locks, m->lo, m->hi - m->lo);
	if (rec)
		rec_end();
}

/* How many were ever loaded and unloaded: when neither has changed, neither have
 * the modules. */
static int count_loads(struct dl_phdr_info *info, size_t size, void *arg)
{
	unsigned long long *n = arg;
	(void)size;
	n[0] = info->dlpi_adds;
	n[1] = info->dlpi_subs;
	return 1;
}

/* Under modules_lock. */
static void look_again(void)
{
	for (uint32_t i = 0; i < rt.nmodules; i++)
		rt.modules[i].there = rt.modules[i].moved;
	dl_iterate_phdr(see_module, NULL);
	for (uint32_t i = 0; i < rt.nmodules; i++) {
		struct rt_module *m = &rt.modules[i];
		if (!m->there && !m->gone)
			forget_module(m);
		m->gone = !m->there;
	}
}

void rt_modules(void)
{
	static unsigned long long seen[2]; /* under modules_lock */
	unsigned long long now[2] = { 0, 0 };
	int busy = me->busy; /* rt_nobody's is always set: the last thread's end has no other */
	me->busy = 1;
	spin_lock(&rt.modules_lock);
	dl_iterate_phdr(count_loads, now);
	if (!rt.nmodules || now[0] != seen[0] || now[1] != seen[1])
		look_again();
	seen[0] = now[0];
	seen[1] = now[1];
	spin_unlock(&rt.modules_lock);
	me->busy = busy;
}

void rt_before_load(const char *path)
{
	if (!path || !*path || !rt.on)
		return; /* the program itself */
	int busy = me->busy;
	me->busy = 1;
	spin_lock(&rt.modules_lock);
	move_gone(path, 0, UINTPTR_MAX);
	spin_unlock(&rt.modules_lock);
	me->busy = busy;
	if (!busy && *rt.opt.socket && rt_dyn.ready != rt.nready)
		rt_told(); /* what was told of them has other addresses now */
}

/* ---- messages ---- */

/* Where a message goes, and what its reader has heard before. */
struct report_way {
	bool (*send)(void *, const char *, size_t);
	void *arg;
	bool knows; /* it has heard of the modules that are `told` */
	bool again; /* findings sent before are sent again */
};

/* What is to be told goes that way. Returns whether there was anything; out.failed
 * tells the rest. */
static bool compose(bool final, struct report_way way)
{
	static uint64_t image;
	if (!image) {
		struct timespec now = { 0, 0 };
		syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
		image = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + 1;
	}
	out.created = rt.created;
	out.parent = rt.parent;
	out.nthreads = RT_UIDS;
	out.send = way.send;
	out.arg = way.arg;
	out.pid = rt.pid;
	out.image = image;
	out.final = final;
	message_begin(&out);
	spin_lock(&rt.modules_lock); /* none moves until the findings that refer to it are reported */
	for (uint32_t i = 0; i < rt.nmodules; i++) {
		const struct rt_module *m = &rt.modules[i];
		if (!(way.knows && m->told))
			message_module(&out, &(struct message_module){ m->lo, m->hi, m->base, m->path });
	}
	if (modules_lost)
		message_lost(&out, "modules", modules_lost);
	bool any = message_findings(&out, &rt_dyn, way.again, rt.opt.report_loops);
	bool sent = any && message_end(&out);
	for (uint32_t i = 0; sent && way.knows && i < rt.nmodules; i++)
		rt.modules[i].told = true;
	spin_unlock(&rt.modules_lock);
	return any;
}

/* ---- ways out ---- */

static bool send_piece(void *arg, const char *text, size_t n)
{
	(void)arg;
	return rt_send(text, n);
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

static bool write_piece(void *arg, const char *text, size_t n)
{
	const int fd = *(const int *)arg;
	uint64_t pipe_set = 1ull << (SIGPIPE - 1), old;
	struct timespec now = { 0, 0 };
	size_t at = 0;
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &pipe_set, &old, 8);
	while (at < n) {
		long w = syscall(SYS_write, fd, text + at, n - at);
		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0 && errno == EPIPE)
			syscall(SYS_rt_sigtimedwait, &pipe_set, NULL, &now, 8);
		if (w <= 0)
			break;
		at += (size_t)w;
	}
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, 8);
	return at == n;
}

/* `intact symbolize`, fed through a pipe. Returns its exit status, -1. A
 * process between us and it has no exit signal (exec would set one): the
 * program's wait() and SIGCHLD know nothing of either. */
static int start_tool(const char *tool, bool final, bool again)
{
	int fd[2], status = -1;
	if (syscall(SYS_pipe2, fd, O_CLOEXEC))
		return -1;
	long pid = syscall(SYS_clone, 0, 0, 0, 0, 0);
	if (pid == 0)
		between(tool, fd);
	syscall(SYS_close, fd[0]);
	if (pid > 0)
		compose(final, (struct report_way){ write_piece, &fd[1], false, again });
	syscall(SYS_close, fd[1]);
	while (pid > 0 && syscall(SYS_wait4, pid, &status, __WALL, NULL) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

extern const char __intact_tool[] __attribute__((weak));

static bool print_piece(void *arg, const char *text, size_t n)
{
	(void)arg;
	(void)n;
	rt_say(text);
	return true;
}

static void print_raw(bool final)
{
	rt_say("==================\nIntact: the tool that symbolises reports "
	       "(intact) was not found; set INTACT_OPTIONS=tool=PATH.\n"
	       "The unsymbolised report:\n");
	compose(final, (struct report_way){ print_piece, NULL, false, true });
	rt_say("==================\n");
}

static void tell_tool(bool final, bool again)
{
	const char *tool = *rt.opt.tool ? rt.opt.tool : NULL;
	int r = -1;
	if (!tool)
		tool = rt_env("INTACT_TOOL");
	if (!tool && __intact_tool)
		tool = __intact_tool;
	if (tool && *tool)
		r = start_tool(tool, final, again);
	if (r == 127 || r < 0)
		print_raw(final);
	shown |= r == 127 || r < 0 || r == 1;
}

/* Is there something that was not reported yet? */
static bool something(bool final)
{
	bool any = rt_dyn.nlost != 0 || hazards_fresh(&rt_dyn, final);
	for (uint32_t i = 1; i < rt_dyn.nfindings && !any; i++) {
		const struct finding *f = &rt_dyn.findings[i];
		any = finding_counts(f, final) && (final || !f->sent) && (!f->loop || f->name || rt.opt.report_loops);
	}
	return any;
}

void rt_flush(bool final)
{
	if (!rt.on || (!*rt.opt.socket && !rt.opt.atexit_report) || !something(final))
		return;
	rt_modules();
	spin_lock(&out_lock);
	if (!out.text)
		out.text = pages_map(MESSAGE_SIZE);
	bool by_socket = *rt.opt.socket && !rt.opt.halt_on_error;
	bool any = out.text != NULL;
	if (any && by_socket)
		any = compose(final, (struct report_way){ send_piece, NULL, true, false }) && out.failed;
	if (any)
		tell_tool(final, final || by_socket);
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
	rt.marks |= RT_BLOCKS;
	rt.atomic_fns = table;
	me->room = NULL; /* as all threads from here on: every entry is looked at */
}
