#include "project/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/invariant.h"
#include "base/buf.h"
#include "base/paths.h"
#include "version.h"

void doctor_add(struct doctor *d, enum doctor_state state, const char *fix, const char *subject, const char *fmt, ...)
{
	char text[600];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	struct doctor_row r = { state, arena_strdup(d->arena, subject), arena_strdup(d->arena, text), fix };
	avec_push(d->arena, &d->rows, r);
	d->bad += state == DOCTOR_BAD;
}

/* ---- what the kernel says ------------------------------------------------------- */

/* The first number in a file of /proc; -1 when there is none. */
static long number_in(const char *path)
{
	FILE *f = fopen(path, "r");
	long v = -1;
	if (f && fscanf(f, "%ld", &v) != 1)
		v = -1;
	if (f)
		fclose(f);
	return v;
}

static void kernel(struct doctor *d)
{
	struct utsname u;
	bool known = !uname(&u);
	bool x86 = known && !strcmp(u.machine, "x86_64");
	doctor_add(d, x86 ? DOCTOR_OK : DOCTOR_BAD,
	           x86 ? NULL : "programs are watched and explored on x86-64 Linux; models and histories work anywhere", "machine",
	           "%s %s, %s", known ? u.sysname : "?", known ? u.release : "?", known ? u.machine : "?");
#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif
	bool dispatch = !prctl(PR_SET_SYSCALL_USER_DISPATCH, 0, 0, 0, 0);
	doctor_add(d, dispatch ? DOCTOR_OK : DOCTOR_BAD,
	           dispatch ? NULL
	                    : "`intact explore` needs Linux 5.11 or later, and a seccomp profile that allows prctl; `intact run` "
	                      "works without",
	           "system calls", "%s", dispatch ? "can be intercepted (syscall user dispatch)" : "cannot be intercepted");
	int old = personality(0xffffffff);
	bool fixed = old >= 0 && personality((unsigned long)old | ADDR_NO_RANDOMIZE) >= 0;
	if (fixed)
		personality((unsigned long)old);
	long aslr = number_in("/proc/sys/kernel/randomize_va_space");
	doctor_add(d, fixed || !aslr ? DOCTOR_OK : DOCTOR_NOTE,
	           fixed || !aslr ? NULL
	                          : "allow personality(2): docker run --security-opt seccomp=unconfined; else schedules replay "
	                            "with other addresses",
	           "address randomisation", "%s%s",
	           aslr == 0  ? "off"
	           : aslr > 0 ? "on"
	                      : "unknown",
	           fixed ? ", can be switched off for a program" : "");
	doctor_add(d, access("/proc/self/maps", R_OK) ? DOCTOR_BAD : DOCTOR_OK,
	           access("/proc/self/maps", R_OK) ? "mount /proc: mount -t proc proc /proc" : NULL, "/proc", "%s",
	           access("/proc/self/maps", R_OK) ? "is not mounted" : "is mounted");
}

static void limits(struct doctor *d)
{
	struct rlimit as;
	bool limited = !getrlimit(RLIMIT_AS, &as) && as.rlim_cur != RLIM_INFINITY;
	doctor_add(d, limited ? DOCTOR_BAD : DOCTOR_OK,
	           limited ? "ulimit -v unlimited: the runtime reserves address space, not memory" : NULL, "address space", "%s",
	           limited ? "is limited (ulimit -v)" : "is not limited");
	long strict = number_in("/proc/sys/vm/overcommit_memory");
	doctor_add(d, strict == 2 ? DOCTOR_NOTE : DOCTOR_OK,
	           strict == 2 ? "if programs fail to start: sysctl vm.overcommit_memory=0" : NULL, "overcommit", "%s",
	           strict == 2 ? "is off (vm.overcommit_memory=2): reserved address space counts as memory" : "is on");
}

static void debugger(struct doctor *d)
{
	char path[PATH_MAX];
	long scope = number_in("/proc/sys/kernel/yama/ptrace_scope");
	bool gdb = find_in_path("gdb", path, sizeof path);
	if (!gdb)
		doctor_add(d, DOCTOR_NOTE, "install gdb", "gdb",
		           "is not there: `intact explore --replay FILE --gdb` does not work");
	else if (scope == 3)
		doctor_add(d, DOCTOR_NOTE, "sysctl kernel.yama.ptrace_scope=1 (after a reboot)", "gdb",
		           "ptrace is forbidden (kernel.yama.ptrace_scope=3)");
	else
		doctor_add(d, DOCTOR_OK, NULL, "gdb", "%s", path);
}

/* ---- programs that are run --------------------------------------------------------- */

struct doctor_command {
	const char *const *argv;
	const char *const *environment; /* NAME=VALUE, ended by NULL; may be NULL */
	const char *dir;
	struct buf *out; /* both streams; at most a few KiB are kept */
};

enum { LONGEST = 120 }; /* seconds */

static void child(const struct doctor_command *c, int to)
{
	int null = open("/dev/null", O_RDONLY);
	dup2(null, 0);
	dup2(to, 1);
	dup2(to, 2);
	if (c->dir && chdir(c->dir))
		_exit(127);
	for (int i = 0; c->environment && c->environment[i]; i++)
		putenv((char *)c->environment[i]);
	signal(SIGPIPE, SIG_DFL);
	alarm(LONGEST); /* kept over exec: nothing hangs */
	execvp(c->argv[0], (char *const *)c->argv);
	_exit(127);
}

/* The exit status, 128 + N for signal N, 127 when it cannot be run. */
static int run(const struct doctor_command *c)
{
	int ends[2], status;
	char piece[4096];
	if (pipe2(ends, O_CLOEXEC))
		return 127;
	pid_t pid = fork();
	if (pid == 0)
		child(c, ends[1]);
	close(ends[1]);
	for (ssize_t n; (n = read(ends[0], piece, sizeof piece)) > 0 || (n < 0 && errno == EINTR);)
		if (n > 0 && c->out && c->out->len < 16384)
			buf_add(c->out, piece, (size_t)n);
	close(ends[0]);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return 127;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static const char *first_line(struct arena *a, const struct buf *b)
{
	const char *s = buf_cstr(b);
	size_t n = strcspn(s, "\n");
	struct buf safe;
	buf_init(&safe);
	buf_safe(&safe, s, n > 300 ? 300 : n);
	const char *line = arena_strdup(a, buf_cstr(&safe));
	buf_free(&safe);
	return line;
}

/* The line of an error; else the first. */
static const char *error_line(struct arena *a, const struct buf *b)
{
	const char *s = strstr(buf_cstr(b), "error");
	if (!s)
		return first_line(a, b);
	while (s > buf_cstr(b) && s[-1] != '\n')
		s--;
	struct buf rest = { 0 };
	buf_init(&rest);
	buf_str(&rest, s);
	const char *line = first_line(a, &rest);
	buf_free(&rest);
	return line;
}

/* ---- compilers ------------------------------------------------------------------- */

/* The lost update of the README. Line 24 is the block. */
static const char program[] = "#include <pthread.h>\n"
			      "#include <stdlib.h>\n"
			      "\n"
			      "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n"
			      "static int count;\n"
			      "\n"
			      "static int get(void)\n"
			      "{\n"
			      "\tpthread_mutex_lock(&m);\n"
			      "\tint v = count;\n"
			      "\tpthread_mutex_unlock(&m);\n"
			      "\treturn v;\n"
			      "}\n"
			      "\n"
			      "static void set(int v)\n"
			      "{\n"
			      "\tpthread_mutex_lock(&m);\n"
			      "\tcount = v;\n"
			      "\tpthread_mutex_unlock(&m);\n"
			      "}\n"
			      "\n"
			      "static void increment(void)\n"
			      "{\n"
			      "\tset(get() + 1);\n"
			      "}\n"
			      "\n"
			      "static void *worker(void *arg)\n"
			      "{\n"
			      "\tincrement();\n"
			      "\treturn arg;\n"
			      "}\n"
			      "\n"
			      "int main(void)\n"
			      "{\n"
			      "\tpthread_t a, b;\n"
			      "\tif (pthread_create(&a, NULL, worker, NULL) || pthread_create(&b, NULL, worker, NULL))\n"
			      "\t\tabort();\n"
			      "\tpthread_join(a, NULL);\n"
			      "\tpthread_join(b, NULL);\n"
			      "\treturn 0;\n"
			      "}\n";

struct trial {
	struct doctor *d;
	const char *self, *dir; /* this program; a directory to work in */
	const char *compiler;
	char variable[PATH_MAX + 16];
	const char *environment[4];
	struct buf out;
};

static int tool(struct trial *t, const char *const *words)
{
	const char *argv[12] = { t->self };
	int n = 1;
	while (*words && n < 11)
		argv[n++] = *words++;
	argv[n] = NULL;
	buf_clear(&t->out);
	struct doctor_command c = { argv, t->environment, t->dir, &t->out };
	return run(&c);
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Compiles, watches and explores with one compiler. */
static void try_compiler(struct trial *t, const char *subject)
{
	assert(subject);
	struct doctor *d = t->d;
	const char *fix = arena_printf(d->arena, "see what is run: INTACT_CC=%s INTACT_CC_VERBOSE=1 intact cc ...", t->compiler);
	int rc = tool(t, WORDS("cc", "-g", "lost.c", "-o", "lost", "-pthread"));
	if (rc) {
		bool headers = strstr(buf_cstr(&t->out), "pthread.h");
		doctor_add(d, DOCTOR_BAD, headers ? "install libc6-dev (Debian), glibc-devel (Fedora)" : fix, subject,
		           "does not build a program: %s", error_line(d->arena, &t->out));
		return;
	}
	rc = tool(t, WORDS("run", "./lost"));
	bool named = strstr(buf_cstr(&t->out), "increment is not atomic"), lines = strstr(buf_cstr(&t->out), "lost.c:24");
	if (rc != 66 || !named) {
		doctor_add(d, DOCTOR_BAD, fix, subject, "a lost update is not reported: status %d, %s", rc,
		           error_line(d->arena, &t->out));
		return;
	}
	if (!lines)
		doctor_add(d, DOCTOR_BAD, "the compiler's debug information cannot be read: try -gdwarf-4", subject,
		           "reports have no lines");
	rc = tool(t, WORDS("explore", "-n", "500", "--", "./lost"));
	if (rc != 1)
		doctor_add(d, DOCTOR_BAD, "see system calls and machine above; in a container: --security-opt seccomp=unconfined",
		           subject, "`intact explore` does not find the lost update: status %d, %s", rc,
		           error_line(d->arena, &t->out));
	else if (lines)
		doctor_add(d, DOCTOR_OK, NULL, subject, "a lost update is built, watched, reported with its lines, and explored");
}

static bool prepare(char dir[], struct doctor *d)
{
	char file[PATH_MAX + 16];
	if (!mkdtemp(dir)) {
		doctor_add(d, DOCTOR_BAD, "set TMPDIR to a directory that can be written", "temporary files", "%s: %s", dir,
		           strerror(errno));
		return false;
	}
	snprintf(file, sizeof file, "%s/lost.c", dir);
	FILE *f = fopen(file, "w");
	bool ok = f && fputs(program, f) >= 0;
	if (f)
		ok &= !fclose(f);
	if (!ok)
		doctor_add(d, DOCTOR_BAD, "set TMPDIR to a directory that can be written", "temporary files", "%s: %s", file,
		           strerror(errno));
	return ok;
}

static void clean(const char *dir)
{
	assert(dir && *dir);
	static const char *const files[] = { "lost.c", "lost" };
	char path[PATH_MAX + 16];
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, files[i]);
		unlink(path);
	}
	rmdir(dir);
}

/* "cc", "gcc", "clang": those that are there, and are not one program under two names. */
static void compilers(struct doctor *d, const char *self, bool quick)
{
	const char *chosen = getenv("INTACT_CC"), *tmp = getenv("TMPDIR");
	const char *names[] = { chosen && *chosen ? chosen : "cc", "gcc", "clang" };
	char dir[PATH_MAX], seen[3][PATH_MAX];
	int n = 0;
	snprintf(dir, sizeof dir, "%s/intact-doctor-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	bool ready = quick || prepare(dir, d);
	for (int i = 0; i < 3; i++) {
		char found[PATH_MAX], real[PATH_MAX];
		bool known = false;
		if (!find_in_path(names[i], found, sizeof found)) {
			if (i == 0)
				doctor_add(d, DOCTOR_BAD,
				           chosen ? "INTACT_CC names a compiler that is not there" : "install gcc or clang",
				           "compiler", "%s: not found", names[i]);
			continue;
		}
		if (!realpath(found, real))
			continue;
		for (int k = 0; k < n; k++)
			known |= !strcmp(seen[k], real);
		if (known)
			continue;
		strcpy(seen[n++], real);
		struct trial t = { .d = d, .self = self, .dir = dir, .compiler = names[i] };
		char subject[80];
		snprintf(t.variable, sizeof t.variable, "INTACT_CC=%s", found);
		t.environment[0] = t.variable;
		t.environment[1] = "INTACT_PROJECT=none";
		t.environment[2] = "INTACT_OPTIONS=";
		buf_init(&t.out);
		struct doctor_command c = { WORDS(found, "--version"), NULL, NULL, &t.out };
		run(&c);
		snprintf(subject, sizeof subject, "compiler %.60s", names[i]);
		doctor_add(d, DOCTOR_OK, NULL, subject, "%s", first_line(d->arena, &t.out));
		if (!quick && ready)
			try_compiler(&t, subject);
		buf_free(&t.out);
	}
	if (!quick)
		clean(dir);
}

void doctor_machine(struct doctor *d, bool quick)
{
	char self[PATH_MAX], dir[PATH_MAX];
	bool known = self_path(self, sizeof self), runtime = runtime_dir(dir, sizeof dir);
	doctor_add(d, DOCTOR_OK, NULL, "intact", INTACT_VERSION ", %s", known ? self : "?");
	doctor_add(d, runtime ? DOCTOR_OK : DOCTOR_BAD,
	           runtime          ? NULL
	           : INTACT_WATCHES ? "install intact again; INTACT_RUNTIME_DIR may name the directory of libintact_rt.a"
	                            : "watch programs on a machine with x86-64 and glibc; all other commands work here",
	           "runtime", "%s",
	           runtime          ? dir
	           : INTACT_WATCHES ? "libintact_rt.a is not found: nothing can be built for watching"
	                            : "there is none for this machine (" INTACT_MACHINE "): no program can be watched");
	kernel(d);
	limits(d);
	debugger(d);
	compilers(d, known ? self : "intact", quick);
}
