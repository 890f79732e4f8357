/*
 * serve: a session between two file descriptors and its checks: waits for bytes of the client, answers of children and their
 * deadlines. A change is analysed when nothing more is waiting to be read, so that fast typing costs one analysis.
 */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/console.h"
#include "base/invariant.h"
#include "lsp/server.h"

static bool send_all(struct lsp *s, int out)
{
	const char *p = buf_cstr(&s->out);
	size_t len = s->out.len;
	while (len) {
		ssize_t n = write(out, p, len);
		if (n < 0 && errno != EINTR)
			return false;
		p += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	buf_clear(&s->out);
	return !s->out.failed;
}

/* Milliseconds until the first deadline; -1: there is none. */
static int patience(const struct lsp *s)
{
	double first = -1, now = clock_seconds();
	for (unsigned i = 0; i < LSP_MAX_JOBS; i++)
		if (s->jobs[i].pid && (first < 0 || s->jobs[i].deadline < first))
			first = s->jobs[i].deadline;
	if (first < 0)
		return -1;
	return first <= now ? 0 : first - now > 1000 ? 1000000 : (int)((first - now) * 1000) + 1;
}

/* Waits; then looks after the checks. The client's descriptor is p[0]. */
static void wait_for_something(struct lsp *s, struct pollfd *p, bool changed)
{
	nfds_t n = 1;
	struct lsp_job *of[LSP_MAX_JOBS + 1] = { NULL };
	for (unsigned i = 0; i < LSP_MAX_JOBS; i++)
		if (s->jobs[i].pid) {
			of[n] = &s->jobs[i];
			p[n++] = (struct pollfd){ .fd = s->jobs[i].fd, .events = POLLIN };
		}
	p[0].revents = 0;
	if (poll(p, n, changed ? 0 : patience(s)) < 0)
		return;
	for (nfds_t i = 1; i < n; i++) {
		struct lsp_job *b = of[i];
		assert(b && b->pid);
		b->late = b->deadline <= clock_seconds();
		if ((p[i].revents && job_read(b)) || b->late)
			job_ended(s, b);
	}
}

int lsp_serve(const struct lsp_options *o, int in, int out)
{
	static char block[1 << 16];
	struct pollfd p[LSP_MAX_JOBS + 1] = { { .fd = in, .events = POLLIN } };
	int code = EXIT_VIOLATED; /* the stream ended before the client did */
	bool changed = false;
	struct lsp *s = lsp_new(o);
	if (!s)
		return EXIT_INTERNAL;
	while (!lsp_ended(s, &code)) {
		code = EXIT_VIOLATED;
		wait_for_something(s, p, changed);
		if (p[0].revents) {
			ssize_t n = read(in, block, sizeof block);
			if (n < 0 && errno == EINTR)
				continue;
			if (n <= 0)
				break;
			lsp_receive(s, block, (size_t)n);
			changed = true;
		} else {
			lsp_idle(s);
			changed = false;
		}
		if (!send_all(s, out))
			break;
	}
	lsp_free(s);
	return code;
}
