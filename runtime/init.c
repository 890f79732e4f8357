/*
 * init: the runtime comes alive before any constructor of the program
 * (.preinit_array), reads INTACT_OPTIONS, and reports when the program ends.
 *
 * If even the directory of the shadow memory cannot be allocated (a tight
 * `ulimit -v`), the program runs unwatched and a message is printed once.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/explore/explorer.h"
#include "options.h"
#include "rt.h"

/* The program's file, by the linker. */
#pragma GCC visibility push(default)
extern char __executable_start[], _end[];
#pragma GCC visibility pop

struct rt rt;
struct dynamic rt_dyn;
static uint64_t *no_leaf;
uint64_t **rt_dir = &no_leaf; /* with mask 0: no shadow yet */
uintptr_t rt_dir_mask;

/* ---- options ---- */

struct init_row {
	const char *name, *value, *help;
	char kind;
	void *target;
};
enum { KIND_B = 'b', KIND_N = 'n', KIND_S = 's' };
#define ROW(name_, kind_, value_, help_) { #name_, value_, help_, KIND_##kind_, &rt.opt.name_ },
static const struct init_row rows[] = { RT_OPTIONS(ROW) };
#define NROWS (sizeof rows / sizeof *rows)

static bool set_option(const struct init_row *r, const char *v)
{
	if (r->kind == KIND_S) {
		*(const char **)r->target = rt_strdup(v, rt_length(v));
		return true;
	}
	bool yes = rt_same(v, "1") || rt_same(v, "true") || rt_same(v, "yes");
	bool no = rt_same(v, "0") || rt_same(v, "false") || rt_same(v, "no");
	if (r->kind == KIND_B) {
		*(bool *)r->target = yes;
		return yes || no;
	}
	long n = 0;
	for (const char *p = v; *p; p++) {
		if (*p < '0' || *p > '9' || n > 100000000)
			return false;
		n = n * 10 + (*p - '0');
	}
	*(long *)r->target = n;
	return *v != 0;
}

/* Letters of `a` that `b` lacks in order: enough to find a slip. */
static unsigned distance(const char *a, const char *b)
{
	unsigned d[40], n = 0;
	for (unsigned i = 0; i < 40; i++)
		d[i] = i;
	for (; *a; a++) {
		unsigned diag = d[0];
		d[0]++;
		for (n = 0; b[n] && n < 38; n++) {
			unsigned best = diag + (*a != b[n]);
			diag = d[n + 1];
			if (diag + 1 < best)
				best = diag + 1;
			if (d[n] + 1 < best)
				best = d[n] + 1;
			d[n + 1] = best;
		}
	}
	for (n = 0; b[n] && n < 38; n++)
		;
	return d[n];
}

static void unknown_option(const char *name)
{
	unsigned best = 0, low = ~0u;
	for (unsigned i = 0; i < NROWS; i++) {
		unsigned d = distance(name, rows[i].name);
		if (d < low) {
			low = d;
			best = i;
		}
	}
	rt_sayf("Intact: INTACT_OPTIONS: unknown option '%s'", name);
	if (low <= 1 + rt_length(name) / 3)
		rt_sayf("; did you mean '%s'?", rows[best].name);
	rt_say("\nIntact: INTACT_OPTIONS=help=1 lists the options.\n");
}

static void one_option(const char *text, size_t n)
{
	char item[512];
	if (n >= sizeof item) {
		rt_say("Intact: INTACT_OPTIONS: a value longer than 511 characters was ignored\n");
		return;
	}
	rt_copy(item, text, n);
	item[n] = 0;
	char *eq = item;
	while (*eq && *eq != '=')
		eq++;
	const char *value = *eq ? eq + 1 : "1";
	*eq = 0;
	for (unsigned i = 0; i < NROWS; i++)
		if (rt_same(rows[i].name, item)) {
			if (!set_option(&rows[i], value))
				rt_sayf("Intact: INTACT_OPTIONS: %s takes %s, not '%s'\n", item,
				        rows[i].kind == KIND_B ? "0 or 1" : "a number", value);
			return;
		}
	unknown_option(item);
}

static void rt_options_read(void)
{
	for (unsigned i = 0; i < NROWS; i++)
		set_option(&rows[i], rows[i].value);
	const char *s = rt_env("INTACT_OPTIONS");
	while (s && *s) {
		size_t n = 0;
		while (s[n] && s[n] != ':' && s[n] != ' ' && s[n] != '\n' && s[n] != '\t')
			n++;
		if (n)
			one_option(s, n);
		s += n + (s[n] != 0);
	}
	if (!rt.opt.help)
		return;
	rt_say("Options of INTACT_OPTIONS (key=value, separated by colons):\n");
	for (unsigned i = 0; i < NROWS; i++)
		rt_sayf("  %s\n      %s (default: %s)\n", rows[i].name, rows[i].help, *rows[i].value ? rows[i].value : "none");
}

/* ---- beginning and end ---- */

static void at_end(void);

/* Is it looked for: asked for, and not left out of `only`? */
static bool looks_for(const char *what, bool asked)
{
	size_t n = rt_length(what);
	const char *s = rt.opt.only;
	while (*s) {
		size_t len = 0;
		while (s[len] && s[len] != ',')
			len++;
		if (len == n && !__builtin_memcmp(s, what, n))
			return true;
		s += len + (s[len] == ',');
	}
	return asked && !*rt.opt.only;
}

static void look_for_hazards(void)
{
	bool races = looks_for("races", rt.opt.races), locks = looks_for("locks", rt.opt.locks);
	bool ok = !(races || locks) || hazards_init(&rt_dyn.hazards);
	if (ok && races && races_init(&rt_dyn.races))
		rt.marks |= RT_ORDER;
	if (ok && locks)
		lock_order_init(&rt_dyn);
	if ((races && !rt_dyn.races.dir) || (locks && !rt_dyn.order.edges))
		rt_say("Intact: not enough address space (ulimit -v): data races or lock orders are not reported\n");
}

static void exe_name(void)
{
	char exe[4096];
	long n = syscall(SYS_readlink, "/proc/self/exe", exe, sizeof exe);
	rt.exe = n > 0 ? rt_strdup(exe, (size_t)n) : "";
}

static void explore_begin(void)
{
	long fd = 0;
	for (const char *s = rt.opt.explore; *s >= '0' && *s <= '9'; s++)
		fd = fd * 10 + (*s - '0');
	exe_name();
	x_begin(fd);
}

void rt_init(void)
{
	static int once;
	if (__atomic_exchange_n(&once, 1, __ATOMIC_ACQ_REL))
		return;
	rt_nobody.busy = 1;
#ifdef INTACT_COVERAGE_FILE
	rt_coverage_init();
#endif
	rt.pid = (int)syscall(SYS_getpid);
	rt.threads = pages_map((SHADOW_MAX_TID + 1) * sizeof *rt.threads);
	rt.slot_epoch = pages_map((SHADOW_MAX_TID + 1) * sizeof *rt.slot_epoch);
	rt.created = pages_map(RT_UIDS * sizeof *rt.created);
	rt.parent = pages_map(RT_UIDS * sizeof *rt.parent);
	rt.modules = pages_map(RT_MODULES * sizeof *rt.modules);
	rt.nslots = 1;
	rt_options_read();
	if (*rt.opt.explore) {
		explore_begin();
		return;
	}
	if (!rt.threads || !rt.slot_epoch || !rt.created || !rt.parent || !rt.modules || !dynamic_init(&rt_dyn)) {
		rt_say("Intact: not enough address space (ulimit -v): "
		       "the program runs unwatched\n");
		rt_status_begin(false);
		return;
	}
	rt_dyn.static_lo = (uintptr_t)__executable_start;
	rt_dyn.static_hi = (uintptr_t)_end;
	rt_dir = rt_dyn.shadow.dir;
	rt_dir_mask = ((uintptr_t)1 << SHADOW_DIR_BITS) - 1;
	rt_dyn.history = (uint32_t)rt.opt.history_size;
	if (rt_dyn.history < 4 || rt_dyn.history > RED_LOG)
		rt_dyn.history = RED_LOG;
	look_for_hazards();
	/* Now: once the main thread has ended the name cannot be had. */
	exe_name();
	rt.on = true;
	rec_init();
	rt_attach();
	if (rt.recording)
		rt_modules();
	rt_load_atomic_fns();
	me->busy = 1; /* what libc allocates for these is no event of the program's */
	rt_process_init();
	at_quick_exit(at_end);
	me->busy = 0;
	rt_status_begin(true);
	if (rt.opt.verbosity)
		rt_sayf("Intact: watching process %d\n", rt.pid);
}

/* So early that libc's environ is not set yet. */
char **rt_environ;

static void start(int argc, char **argv, char **envp)
{
	(void)argc;
	(void)argv;
	rt_environ = envp;
	rt_init();
}

__attribute__((section(".preinit_array"), used)) static void (*const at_start)(int, char **, char **) = start;

static void finish(void)
{
	if (rt.recording)
		rt_modules();
	rec_finish();
	rt_flush(true);
	rt_status_end();
}

/* When the last thread has ended `me` is rt_nobody, whose mark stays. */
__attribute__((destructor(101))) static void at_end(void)
{
	if (!rt.on || (int)syscall(SYS_getpid) != rt.pid)
		return;
	int busy = me->busy;
	me->busy = 1;
	finish();
	if (rt_shown() && rt.opt.exitcode) {
		fflush(NULL);
		syscall(SYS_exit_group, (int)rt.opt.exitcode);
	}
	me->busy = busy;
}

static _Noreturn void end_now(int status)
{
	if (rt.explore)
		x_exit(status, 0);
	if (rt.on && (int)syscall(SYS_getpid) == rt.pid) {
		me->busy = 1;
		finish();
		if (rt_shown() && rt.opt.exitcode)
			status = (int)rt.opt.exitcode;
	}
	for (;;)
		syscall(SYS_exit_group, status);
}

EXPORT void _exit(int status)
{
	end_now(status);
}

EXPORT void _Exit(int status)
{
	end_now(status);
}

void rt_told(void)
{
	rt.nready = rt_dyn.ready;
	if (rt.opt.perturb)
		rt_perturb_learn();
	if (rt.opt.halt_on_error) {
		me->busy = 1;
		finish();
		me->busy = 0;
		if (rt_shown()) {
			rt_status_halted();
			rt_say("Intact: stopped at the first finding (halt_on_error=1)\n");
			syscall(SYS_exit_group, rt.opt.exitcode ? (int)rt.opt.exitcode : 1);
		}
	} else if (*rt.opt.socket) {
		me->busy = 1;
		rt_flush(false);
		me->busy = 0;
	}
}
