#include "program/explore_server.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <limits.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/invariant.h"
#include "base/paths.h"

double server_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

bool server_new(struct explore_server *s, struct buf *err)
{
	*s = (struct explore_server){ .fd = memfd_create("intact-explore", 0), .pidfd = -1, .ask_fd = -1 };
	void *p = MAP_FAILED;
	if (s->fd >= 0 && !ftruncate(s->fd, sizeof *s->c))
		p = mmap(NULL, sizeof *s->c, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	if (p == MAP_FAILED) {
		buf_printf(err, "intact: cannot create shared memory: %s\n", strerror(errno));
		if (s->fd >= 0)
			close(s->fd);
		return false;
	}
	s->c = p;
	s->c->magic = CONTROL_MAGIC;
	s->c->version = CONTROL_VERSION;
	s->c->size = sizeof *s->c;
	s->c->threads = 32;
	s->c->races = 1;
	assert(s->c && s->fd >= 0 && s->pid == 0);
	return true;
}

void server_free(struct explore_server *s)
{
	if (s->pid > 0 && !s->ended) {
		kill(s->pid, SIGKILL);
		waitpid(s->pid, &s->status, 0);
	}
	if (s->c) {
		munmap(s->c, sizeof *s->c);
		close(s->fd);
	}
	if (s->pidfd >= 0)
		close(s->pidfd);
	if (s->ask_fd >= 0)
		close(s->ask_fd);
	*s = (struct explore_server){ .fd = -1, .pidfd = -1, .ask_fd = -1 };
}

static void add_env(const char *name, char separator, const char *value)
{
	const char *old = getenv(name);
	char *text = NULL;
	if (asprintf(&text, "%s%.*s%s", old ? old : "", old && *old ? 1 : 0, &separator, value) > 0)
		setenv(name, text, 1);
	free(text);
}

static _Noreturn void become_gdb(char **argv)
{
	static const char *const words[] = { "gdb",   "-q",
		                             "-ex",   "handle SIGSYS SIGXCPU nostop noprint pass",
		                             "-ex",   "set breakpoint pending on",
		                             "-ex",   "break x_failed",
		                             "-ex",   "run",
		                             "--args" };
	enum { WORDS = sizeof words / sizeof *words };
	size_t n = 0;
	while (argv[n])
		n++;
	const char **all = calloc(WORDS + n + 1, sizeof *all);
	if (!all)
		_exit(127);
	memcpy(all, words, sizeof words);
	memcpy(all + WORDS, argv, n * sizeof *argv);
	execvp("gdb", (char **)(uintptr_t)all);
	fprintf(stderr, "intact: cannot run gdb: %s\n", strerror(errno));
	_exit(127);
}

static _Noreturn void become(const struct explore_server *s, char **argv, bool keeps_pipe)
{
	char option[32];
	snprintf(option, sizeof option, "explore=%d", s->fd);
	add_env("INTACT_OPTIONS", ':', option);
	setenv("OMP_WAIT_POLICY", "passive", 0); /* OpenMP's libraries spin, which takes long when no other thread runs */
	setenv("LD_BIND_NOW", "1", 1);           /* or every run would look functions up again */
	add_env("GLIBC_TUNABLES", ':', "glibc.pthread.rseq=0"); /* the kernel writes to its area at any time */
	if (s->gdb)
		become_gdb(argv);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* it does not outlive us */
	if (getppid() != s->parent)       /* who ended before that */
		_exit(70);
	personality(ADDR_NO_RANDOMIZE); /* where it is forbidden addresses differ between processes */
	int null = open("/dev/null", O_RDONLY);
	if (null >= 0 && null != 0) {
		dup2(null, 0);
		close(null);
	}
	if (!keeps_pipe)
		signal(SIGPIPE, SIG_DFL);
	execvp(argv[0], argv);
	int cause = errno;
	fprintf(stderr, "intact: cannot run '%s': %s\n", argv[0], strerror(cause));
	if (cause == ENOENT && only_here(argv[0]))
		fprintf(stderr, "hint: the file in this directory is ./%s\n", argv[0]);
	_exit(cause == ENOENT ? 127 : 126);
}

bool server_start(struct explore_server *s, char **argv, bool keeps_pipe, struct buf *err)
{
	assert(s->c && s->fd >= 0 && argv[0]);
	assert(s->pid <= 0 || s->ended); /* one process at a time */
	s->ended = s->stalled = false;
	s->c->state = CONTROL_NEW;
	s->beat = s->c->beat;
	s->looked_at = s->began = server_now();
	s->cut = false;
	s->charged = s->cpu = 0;
	s->child = 0;
	fflush(NULL);
	s->parent = getpid();
	s->pid = fork();
	if (s->pid == 0)
		become(s, argv, keeps_pipe);
	if (s->pid < 0) {
		buf_printf(err, "intact: cannot start a process: %s\n", strerror(errno));
		return false;
	}
	s->pidfd = (int)syscall(SYS_pidfd_open, s->pid, 0);
	return true;
}

/* ---- does it make progress? ---- */

/* Processor time of a process, with all its threads. */
static double cpu_of(pid_t pid)
{
	clockid_t clock;
	struct timespec t;
	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return 0;
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Does a thread of the process run, or wait for a processor? */
static bool runnable(pid_t pid)
{
	char path[64], text[512];
	bool any = false;
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *d = opendir(path);
	for (const struct dirent *e; d && !any && (e = readdir(d));) {
		int fd = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		    stat = fd < 0 ? -1 : openat(fd, "stat", O_RDONLY | O_CLOEXEC);
		ssize_t n = stat < 0 ? 0 : read(stat, text, sizeof text - 1);
		text[n > 0 ? n : 0] = 0;
		const char *name_end = strrchr(text, ')'); /* the name may hold anything */
		any = *e->d_name != '.' && name_end && name_end[1] == ' ' && name_end[2] == 'R';
		if (stat >= 0)
			close(stat);
		if (fd >= 0)
			close(fd);
	}
	if (d)
		closedir(d);
	return any;
}

/* With --fork the schedule runs in a child of the process; 0: there is none. */
static pid_t child_of(pid_t pid)
{
	char path[64];
	int child = 0;
	snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
	FILE *f = fopen(path, "re");
	if (f) {
		if (fscanf(f, "%d", &child) != 1)
			child = 0;
		fclose(f);
	}
	return child;
}

/*
 * Time without progress: what the process has computed, or has slept. Time in which it waits for a processor does not count,
 * so that a busy machine is not taken for a program that loops.
 */
static void charge(struct explore_server *s, double now)
{
	pid_t child = child_of(s->pid);
	double cpu = cpu_of(child ? child : s->pid);
	bool same = child == s->child;
	if (same && runnable(child ? child : s->pid))
		s->charged += cpu > s->cpu ? cpu - s->cpu : 0;
	else if (same)
		s->charged += now - s->looked_at;
	s->child = child;
	s->cpu = cpu;
}

/* How long the run that is under way at the limit may still take. */
static double grace(const struct explore_server *s)
{
	uint64_t runs = s->c->runs_done;
	double mean = runs ? (s->until - s->began) / (double)runs : 0;
	return mean > 0.5 ? 2 * mean : 1;
}

/* At the time limit: first a request, then a signal, at last the end. The signal is repeated, as between runs it is ignored. */
static void heed_limit(struct explore_server *s, double now)
{
	const double wait = 5;
	if (s->until <= 0 || now < s->until)
		return;
	if (!s->c->stop)
		__atomic_store_n(&s->c->stop, CONTROL_STOP_AFTER, __ATOMIC_RELAXED);
	double over = now - s->until - grace(s);
	if (over < 0)
		return;
	s->cut = true;
	__atomic_store_n(&s->c->stop, CONTROL_STOP_NOW, __ATOMIC_RELAXED);
	kill(s->pid, over > wait || s->c->state == CONTROL_NEW ? SIGKILL : SIGXCPU);
}

static void look_after(struct explore_server *s, double stall)
{
	assert(stall > 0);
	if (s->ended || s->pid <= 0)
		return;
	s->minded = server_now();
	if (waitpid(s->pid, &s->status, WNOHANG) == s->pid) {
		s->ended = true;
		if (s->pidfd >= 0)
			close(s->pidfd);
		s->pidfd = -1;
		return;
	}
	uint64_t beat = __atomic_load_n(&s->c->beat, __ATOMIC_RELAXED);
	double now = s->minded;
	if (beat != s->beat) {
		s->charged = 0;
		s->stalled = false;
	} else {
		charge(s, now);
	}
	s->beat = beat;
	s->looked_at = now;
	heed_limit(s, now);
	/* the first signal finds out where the run is, the next one ends it if it has not come to a point since */
	if (s->charged > stall * 2) {
		kill(s->pid, SIGKILL);
	} else if (s->charged > stall / 2 && !s->stalled && !s->cut) {
		s->stalled = true;
		kill(s->pid, SIGXCPU);
	}
}

/* ---- questions of an object test ---- */

bool server_asks(struct explore_server *s, struct buf *err)
{
	s->ask_fd = s->c->object.fd = eventfd(0, EFD_NONBLOCK);
	if (s->ask_fd < 0)
		buf_printf(err, "intact: cannot create a descriptor: %s\n", strerror(errno));
	return s->ask_fd >= 0;
}

static bool asked(struct explore_server *s)
{
	uint64_t n;
	return s->ask_fd >= 0 && read(s->ask_fd, &n, sizeof n) == sizeof n;
}

void server_answer(struct explore_server *s, uint32_t reply)
{
	struct control_objtest *o = &s->c->object;
	o->reply = reply;
	s->looked_at = server_now(); /* it was not its fault that it waited */
	s->charged = 0;
	__atomic_add_fetch(&o->replies, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &o->replies, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

bool server_question(struct explore_server *s, double stall)
{
	for (;;) {
		if (asked(s))
			return true;
		if (s->ended)
			return false;
		struct pollfd p[2] = { { s->ask_fd, POLLIN, 0 }, { s->pidfd, POLLIN, 0 } };
		if (poll(p, s->pidfd >= 0 ? 2 : 1, 50) <= 0 || p[1].revents)
			look_after(s, stall);
	}
}

void server_wait(struct explore_server *s, unsigned n, double seconds, double stall)
{
	assert(n && n <= 256);
	double until = server_now() + seconds;
	for (;;) {
		struct pollfd p[256];
		bool any = false;
		unsigned k = 0;
		for (unsigned i = 0; i < n && k + 2 <= 256; i++) {
			bool served = s[i].serve && asked(&s[i]);
			if (served)
				server_answer(&s[i], s[i].serve(s[i].serve_arg, s[i].c));
			if (!served || s[i].looked_at - s[i].minded > 0.01) /* else it is alive */
				look_after(&s[i], stall);
			any |= s[i].ended;
			p[k++] = (struct pollfd){ s[i].pidfd, POLLIN, 0 };
			if (s[i].serve && s[i].ask_fd >= 0)
				p[k++] = (struct pollfd){ s[i].ask_fd, POLLIN, 0 };
		}
		double left = until - server_now();
		if (any || left <= 0)
			return;
		int ms = left > 0.05 ? 50 : (int)(left * 1000) + 1;
		poll(p, k, ms);
	}
}
