/*
 * run_status: a watched process announces itself and reports at its end what was
 * watched, so that `intact run` can distinguish a clean run from an unwatched one.
 *
 * Two small datagrams of lines `key value` (src/program/run_processes.c reads them).
 */
#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "rt.h"

enum { TEXT = 8192, MAX_OWN = 64 };

bool rt_send(const char *text, size_t n)
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
		r = syscall(SYS_sendto, fd, text, n, MSG_NOSIGNAL, &to, sizeof to);
	while (r < 0 && errno == EINTR);
	syscall(SYS_close, fd);
	return r == (long)n;
}

struct text {
	char at[TEXT];
	size_t n;
};

static void add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	t->n += message_format(t->at + t->n, TEXT - t->n, fmt, ap);
	va_end(ap);
}

/* Ours by the linker's choice; a program's own function of the name wins. */
extern char __start_intact_text[] __attribute__((visibility("hidden")));
extern char __stop_intact_text[] __attribute__((visibility("hidden")));

static void add_own(struct text *t)
{
	struct rt_lazy **end;
	const char *said[MAX_OWN];
	unsigned n = 0;
	for (struct rt_lazy **l = rt_lazy_table(&end); l < end && n < MAX_OWN; l++) {
		const char *at = (*l)->at;
		bool again = at >= __start_intact_text && at < __stop_intact_text;
		for (unsigned i = 0; i < n && !again; i++)
			again = rt_same(said[i], (*l)->name);
		if (again)
			continue;
		said[n++] = (*l)->name;
		add(t, "own %s\n", (*l)->name);
	}
}

void rt_status_begin(bool watched)
{
	if (!*rt.opt.socket)
		return;
	struct text t = { .n = 0 };
	add(&t, "INTACT-PROCESS 1\npid %d\n%s\nexe %s\n", rt.pid, watched ? "begin" : "unwatched", rt.exe ? rt.exe : "");
	if (watched)
		add_own(&t);
	rt_send(t.at, t.n);
}

void rt_status_end(void)
{
	if (!*rt.opt.socket || !rt.on)
		return;
	struct text t = { .n = 0 };
	uint32_t locks = 0;
	for (uint32_t i = 1; i < rt_dyn.locks.n && i < rt_dyn.locks.max; i++)
		locks += rt_dyn.locks.locks[i].lived + (rt_dyn.locks.locks[i].seq != 0);
	add(&t, "INTACT-PROCESS 1\npid %d\nend\nexe %s\nthreads %u\nfunctions %u\nlocks %u\n", rt.pid, rt.exe,
	    rt.uids - rt.inherited, rt_dyn.nfunctions, locks);
	if (rt.opt.perturb) {
		uint32_t came, n = rt_perturbed(&came);
		add(&t, "delays %u\ncame %u\n", n, came);
	}
	rt_send(t.at, t.n);
}

void rt_status_halted(void)
{
	if (!*rt.opt.socket)
		return;
	struct text t = { .n = 0 };
	add(&t, "INTACT-PROCESS 1\npid %d\nhalted\n", rt.pid);
	rt_send(t.at, t.n);
}
