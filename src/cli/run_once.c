/*
 * run_once: listens on a socket for what a watched program and its children
 * find, and prints it when the program has ended.
 *
 * The program's own behaviour is left alone: its descriptors, its output, its
 * exit status when nothing was found. Pieces of messages are added up as they
 * come, process by process; unreadable ones are counted and told of.
 */
#include <errno.h>
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

#include "cli/paths.h"
#include "cli/run_once.h"
#include "cli/run_record.h"

enum { MESSAGE_MAX = 256 << 10 };

struct listener {
	char dir[64], path[80];
	int fd;
	struct recording *rec;
	struct arena *arena;
	struct raw_reports said;
	uint32_t lost;
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
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = &control,
		            .msg_controllen = sizeof control };
	ssize_t n = recvmsg(l->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(int)))
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
		if (!raw_add(&l->said, l->arena, block, (size_t)n))
			l->lost++;
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

static const char *environment(struct settings *s, const struct run_how *how,
                               const struct listener *l)
{
	const char *old = getenv("INTACT_OPTIONS");
	char self[PATH_MAX];
	self_path(self, sizeof self);
	return arena_printf(&s->arena, "%s%ssocket=%s:tool=%s%s%s%s", old ? old : "",
	                    old && *old ? ":" : "", l->path, self, how->halt ? ":halt_on_error=1" : "",
	                    how->loops ? ":report_loops=1" : "",
	                    l->rec ? arena_printf(&s->arena, ":record=-%d", (int)getpid()) : "");
}

static void show(struct cli *cli, struct settings *s, struct listener *l, uint32_t pid)
{
	struct buf text;
	uint32_t who = pid, n = l->said.list.len;
	buf_init(&text);
	for (int own = 1; own >= 0; own--) /* the program itself, then its children */
		for (uint32_t i = 0; i < n; i++) {
			struct raw_report *r = l->said.list.data[i];
			if ((r->pid == pid) != own)
				continue;
			findings_text(r, &s->filter, &s->text, &s->arena, &s->shown, &text);
			who = r->pid;
		}
	s->shown.unread += l->lost + l->said.lost;
	findings_close(&s->filter, &s->shown, s->print_suppressions, &text);
	settings_deliver(cli, s, &text, n == 1 ? who : pid);
	buf_free(&text);
}

int run_once(struct cli *cli, struct settings *s, const struct run_how *how, char **argv)
{
	struct listener l = { .arena = &s->arena };
	if (!listen_begin(&l)) {
		buf_printf(&cli->err, "intact: cannot listen for findings in %s: %s\n", l.dir,
		           strerror(errno));
		listen_end(&l);
		return EXIT_USAGE;
	}
	const char *why;
	if (how->record && !(l.rec = recording_begin(how->record, how->keep, &why))) {
		buf_printf(&cli->err, "intact: cannot record to '%s': %s\n", how->record, why);
		listen_end(&l);
		return EXIT_USAGE;
	}
	const char *env = environment(s, how, &l);
	buf_flush(&cli->err, stderr);
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		setenv("INTACT_OPTIONS", env, 1);
		if (!cli->keeps_pipe)
			signal(SIGPIPE, SIG_DFL);
		execvp(argv[0], argv);
		int cause = errno;
		fprintf(stderr, "intact: cannot run '%s': %s\n", argv[0], strerror(cause));
		_exit(cause == ENOENT ? 127 : 126);
	}
	int status = pid < 0 ? 0 : watch(&l, pid);
	if (l.rec)
		recording_end(l.rec, &cli->err, false);
	if (!how->silent)
		show(cli, s, &l, (uint32_t)pid);
	listen_end(&l);
	if (pid < 0) {
		buf_printf(&cli->err, "intact: cannot start a process: %s\n", strerror(errno));
		return EXIT_INTERNAL;
	}
	if (WIFSIGNALED(status))
		buf_printf(&cli->err, "intact: the program was ended by signal %d (%s)\n",
		           WTERMSIG(status), strsignal(WTERMSIG(status)));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
