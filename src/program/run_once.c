/*
 * run_once: listens on a socket for what a watched program and its children
 * find, and prints it when the program has ended.
 *
 * The program's own behaviour is not changed: its descriptors, its output,
 * its exit status when nothing was found. Pieces of messages are added up as
 * they come, process by process; unreadable ones are counted and reported.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/paths.h"
#include "program/run_once.h"
#include "program/run_record.h"

enum { MESSAGE_MAX = 256 << 10 };
#define BYTES_MAX (UINT64_C(1) << 30) /* of all messages */

struct listener {
	char dir[64], path[80];
	int fd;
	struct recording *rec;
	struct arena *arena;
	struct processes *processes;
	struct raw_reports said;
	uint64_t bytes;
	uint32_t lost;
	bool other_version; /* of Intact: what it sent is among the lost */
};

static bool listen_begin(struct listener *l)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int room = 4 << 20;
	snprintf(l->dir, sizeof l->dir, "/tmp/intact-XXXXXX"); /* a socket's name must be short */
	l->fd = -1;
	if (!mkdtemp(l->dir))
		return false;
	snprintf(l->path, sizeof l->path, "%s/findings", l->dir);
	snprintf(at.sun_path, sizeof at.sun_path, "%s", l->path);
	l->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (l->fd < 0 || bind(l->fd, (struct sockaddr *)&at, sizeof at))
		return false;
	setsockopt(l->fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
	return true;
}

static void listen_end(struct listener *l)
{
	if (l->fd >= 0)
		close(l->fd);
	unlink(l->path);
	rmdir(l->dir);
	raw_free(&l->said);
}

/* One datagram; *fd gets the descriptor that came with it. */
static ssize_t receive(struct listener *l, char *block, int *fd)
{
	struct iovec v = { block, MESSAGE_MAX };
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control };
	ssize_t n = recvmsg(l->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(c), sizeof *fd);
	return n;
}

static void take_messages(struct listener *l)
{
	static char block[MESSAGE_MAX];
	for (;;) {
		int fd = -1;
		ssize_t n = receive(l, block, &fd);
		if (n <= 0)
			return;
		if (fd >= 0) {
			if (l->rec)
				recording_add(l->rec, fd);
			else
				close(fd);
			continue;
		}
		l->bytes += (uint64_t)n;
		if (l->bytes > BYTES_MAX)
			l->lost++;
		else if (!processes_take(l->processes, block, (size_t)n) && !raw_add(&l->said, l->arena, block, (size_t)n)) {
			l->lost++;
			l->other_version |= raw_other_version(block, (size_t)n);
		}
	}
}

static volatile sig_atomic_t to_forward;
static void forward(int sig)
{
	to_forward = sig;
}

/* A signal that comes between a look at `to_forward` and the wait ends the
 * wait: it is let in there only. */
static int watch(struct listener *l, pid_t pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), status = 0;
	static const int signals[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT };
	struct sigaction pass = { .sa_handler = forward }, old[4];
	struct sigaction ignore = { .sa_handler = SIG_IGN }; /* the terminal sends those to the program too */
	sigset_t ours, open;
	sigemptyset(&ours);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGHUP);
	sigprocmask(SIG_BLOCK, &ours, &open);
	for (int i = 0; i < 4; i++)
		sigaction(signals[i], i < 2 ? &pass : &ignore, &old[i]);
	for (bool busy = false;;) {
		struct pollfd p[2] = { { l->fd, POLLIN, 0 }, { pidfd, POLLIN, 0 } };
		int ms = busy ? 0 : l->rec ? 1 : 50;
		struct timespec wait = { 0, ms * 1000000L };
		ppoll(p, 2, ms == 50 && pidfd >= 0 ? NULL : &wait, &open);
		if (to_forward) {
			kill(pid, to_forward);
			to_forward = 0;
		}
		take_messages(l);
		if (l->rec)
			busy = recording_drain(l->rec);
		if (waitpid(pid, &status, WNOHANG) == pid)
			break;
	}
	take_messages(l);
	if (pidfd >= 0)
		close(pidfd);
	for (int i = 0; i < 4; i++) /* the next run's program inherits them */
		sigaction(signals[i], &old[i], NULL);
	sigprocmask(SIG_SETMASK, &open, NULL);
	return status;
}

static const char *environment(struct settings *s, const struct run_how *how, const struct listener *l)
{
	const char *old = getenv("INTACT_OPTIONS");
	char self[PATH_MAX];
	self_path(self, sizeof self);
	return arena_printf(&s->arena, "%s%ssocket=%s:tool=%s%s%s%s%s%s%s%s%s%s%s", old ? old : "", old && *old ? ":" : "", l->path,
	                    self, how->halt ? ":halt_on_error=1" : "", how->loops ? ":report_loops=1" : "",
	                    how->races ? ":races=1" : "", how->locks ? ":locks=1" : "", how->no_races ? ":races=0" : "",
	                    how->no_locks ? ":locks=0" : "", how->only ? ":only=" : "", how->only ? how->only : "",
	                    how->perturb ? arena_printf(&s->arena, ":perturb=%llu", (unsigned long long)how->perturb) : "",
	                    l->rec ? arena_printf(&s->arena, ":record=-%d", (int)getpid()) : "");
}

/* What was said, the program itself first, then its children. */
static struct raw_report **in_order(struct listener *l, uint32_t pid)
{
	uint32_t n = 0;
	struct raw_report **list = arena_array(l->arena, struct raw_report *, l->said.list.len + 1);
	for (int own = 1; own >= 0; own--)
		for (uint32_t i = 0; i < l->said.list.len; i++)
			if ((l->said.list.data[i]->pid == pid) == own)
				list[n++] = l->said.list.data[i];
	return list;
}

static void show(struct cli *cli, struct settings *s, const struct run_how *how, struct listener *l, uint32_t pid)
{
	struct buf text;
	uint32_t who = pid, n = l->said.list.len;
	struct raw_report **said = in_order(l, pid);
	if (how->explore)
		how->explore(how->arg, said, n);
	buf_init(&text);
	for (uint32_t i = 0; i < n; i++) {
		findings_add(said[i], &s->filter, &s->text, &s->arena, &s->shown);
		who = said[i]->pid;
	}
	if (l->other_version)
		buf_str(&cli->err,
		        "intact: error: the program was built with another version of Intact, and its findings cannot be read\n"
		        "hint: build it again with this version's `intact cc`\n");
	findings_rank(&s->filter, &s->text, &s->arena, &s->shown);
	s->shown.unread += l->lost + l->said.lost;
	findings_close(&s->filter, &s->shown, s->print_suppressions, &s->log);
	findings_tell(&s->log, &s->text, &text);
	settings_deliver(cli, s, &text, n == 1 ? who : pid);
	buf_free(&text);
}

/* ---- the program ---- */

/* In the child; on `fail` goes the reason when it cannot be run. */
static _Noreturn void become(const struct cli *cli, const struct run_how *how, const char *env, char **argv, int fail)
{
	setenv("INTACT_OPTIONS", env, 1);
	if (!cli->keeps_pipe)
		signal(SIGPIPE, SIG_DFL);
	if (how->stdout_taken)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	execvp(argv[0], argv);
	int cause = errno;
	if (write(fail, &cause, sizeof cause) != sizeof cause)
		_exit(125);
	_exit(cause == ENOENT ? 127 : 126);
}

/* 0 when it runs; else why not, and there is no child. */
static int start(const struct cli *cli, const struct run_how *how, const char *env, char **argv, pid_t *pid)
{
	int fd[2], cause = 0;
	if (pipe2(fd, O_CLOEXEC))
		return errno;
	*pid = fork();
	if (*pid < 0)
		cause = errno;
	if (*pid == 0)
		become(cli, how, env, argv, fd[1]);
	close(fd[1]);
	ssize_t n = 0;
	while (*pid > 0 && (n = read(fd[0], &cause, sizeof cause)) < 0 && errno == EINTR)
		;
	close(fd[0]);
	if (n > 0) {
		waitpid(*pid, NULL, 0);
		*pid = 0;
	}
	return cause;
}

/* What of it was watched, when that is not all that was asked for. */
static void tell_watched(struct cli *cli, const struct settings *s, const struct run_result *r, const struct run_how *how,
                         const char *program, uint32_t pid)
{
	struct buf *err = &cli->err;
	const struct processes *p = &r->processes;
	if (!r->watched) {
		buf_printf(err, "intact: error: nothing was %s: %s\n", how->silent ? "recorded" : "watched", run_unwatched(r));
		if (!p->list.len) {
			buf_str(err, "hint: build it with `intact cc` in place of the compiler, for example "
			             "`CC=intact-cc CXX=intact-c++ make`;\n      if it starts the program under test, "
			             "that one must be built so, and get INTACT_OPTIONS in its environment\n");
		}
		return;
	}
	processes_own(p, err);
	if (!processes_watched(p, pid)) {
		buf_str(err, "intact: '");
		buf_safe(err, program, strlen(program));
		buf_str(err, "' itself was not built with `intact cc`; watched were the processes it started: ");
		processes_names(p, err);
		buf_char(err, '\n');
	}
	processes_perturbed(p, err);
	if (how->silent || s->shown.count || settings_cut(s) || processes_halted(p) || !isatty(STDERR_FILENO))
		return;
	buf_printf(err, "intact: nothing %sfound; watched ", s->shown.known ? "new " : "");
	processes_text(p, err);
	buf_char(err, '\n');
}

const char *run_unwatched(const struct run_result *r)
{
	if (r->watched || r->failed)
		return NULL;
	return r->processes.list.len ? "there was not enough address space for the runtime (ulimit -v)"
	                             : "no process of the run was built with `intact cc`";
}

static int exit_status(const struct run_result *r)
{
	if (r->signal)
		return 128 + r->signal;
	return r->watched ? r->status : EXIT_UNWATCHED;
}

static void tell_signal(struct cli *cli, const struct run_result *r)
{
	const char *name = sigabbrev_np(r->signal);
	buf_printf(&cli->err, "intact: the program was killed by signal %d (SIG%s)\n", r->signal, name ? name : "?");
}

int run_once(struct cli *cli, struct settings *s, const struct run_how *how, char **argv, struct run_result *r)
{
	*r = (struct run_result){ .processes.arena = &s->arena };
	struct listener l = { .arena = &s->arena, .processes = &r->processes };
	if (!listen_begin(&l)) {
		buf_printf(&cli->err, "intact: cannot listen for findings in %s: %s\n", l.dir, strerror(errno));
		listen_end(&l);
		r->failed = true;
		return EXIT_USAGE;
	}
	struct why why;
	if (how->record && !(l.rec = recording_begin(how->record, how->keep, &why))) {
		buf_printf(&cli->err, "intact: cannot record to '%s': %s\n", how->record, why.text);
		listen_end(&l);
		r->failed = true;
		return EXIT_USAGE;
	}
	const char *env = environment(s, how, &l);
	buf_flush(&cli->err, stderr);
	fflush(NULL);
	pid_t pid = 0;
	int cause = start(cli, how, env, argv, &pid);
	int status = pid > 0 ? watch(&l, pid) : 0;
	r->failed = pid <= 0;
	r->watched = processes_any(&r->processes) || l.said.list.len;
	r->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	r->status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	if (l.rec)
		recording_end(l.rec, &cli->err, false);
	if (!how->silent)
		show(cli, s, how, &l, (uint32_t)pid);
	listen_end(&l);
	if (r->failed) {
		buf_str(&cli->err, "intact: cannot run '");
		buf_safe(&cli->err, argv[0], strlen(argv[0]));
		buf_printf(&cli->err, "': %s\n", strerror(cause));
		if (cause == ENOENT && only_here(argv[0])) {
			buf_str(&cli->err, "hint: the file in this directory is ./");
			buf_safe(&cli->err, argv[0], strlen(argv[0]));
			buf_char(&cli->err, '\n');
		}
		return pid < 0 ? EXIT_INTERNAL : cause == ENOENT ? 127 : 126;
	}
	if (r->signal)
		tell_signal(cli, r);
	tell_watched(cli, s, r, how, argv[0], (uint32_t)pid);
	return exit_status(r);
}
