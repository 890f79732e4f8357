#include "lsp/job.h"

#include <errno.h>
#include <fcntl.h>
#include <intact/intact.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/invariant.h"

/* ---- the child -------------------------------------------------------------------------------- */

static void write_all(int fd, const char *s, size_t len)
{
	while (len) {
		ssize_t n = write(fd, s, len);
		if (n < 0 && errno != EINTR)
			_exit(1);
		s += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
}

static void say_why(int fd, const char *why)
{
	write_all(fd, "M", 1);
	write_all(fd, why, strlen(why));
}

/* The library tells the language by the ending of the name. */
static void model_name(const struct job_question *q, struct buf *name)
{
	size_t n = strlen(q->name);
	bool sml = n >= 4 && !strcmp(q->name + n - 4, ".sml");
	buf_str(name, q->name);
	if (q->sml != sml)
		buf_str(name, q->sml ? ".sml" : ".atm");
}

static void check_text(const struct job_question *q, int fd)
{
	struct intact_model *m = intact_model_new();
	struct intact_check *c = intact_check_new();
	struct intact_document *d = intact_document_new();
	struct buf name;
	char number[32];
	size_t len;
	buf_init(&name);
	model_name(q, &name);
	if (!m || !c || !d || name.failed) {
		say_why(fd, "out of memory");
		return;
	}
	snprintf(number, sizeof number, "%" PRIu64, q->timeout);
	bool ok = intact_check_set(c, "timeout", number) == INTACT_OK;
	snprintf(number, sizeof number, "%" PRIu64, q->max_memory);
	ok = ok && intact_check_set(c, "max-memory", number) == INTACT_OK;
	ok = ok && (!q->block || intact_check_set(c, "block", q->block) == INTACT_OK);
	if (!ok) {
		say_why(fd, intact_check_messages(c));
	} else if (intact_model_load_text(m, buf_cstr(&name), q->text, q->len) != INTACT_OK) {
		say_why(fd, "the model has errors");
	} else if (intact_check_run(c, m, d) != INTACT_OK) {
		say_why(fd, *intact_check_messages(c) ? intact_check_messages(c) : "out of memory");
	} else {
		const char *json = intact_document_render(d, INTACT_JSON, &len);
		if (json) {
			write_all(fd, "D", 1);
			write_all(fd, json, len);
		} else {
			say_why(fd, "out of memory");
		}
	}
}

static void child(const struct job_question *q, int fd, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0) {
		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
	}
	signal(SIGPIPE, SIG_DFL);
	check_text(q, fd);
	_exit(0); /* nothing of the parent's is flushed or freed */
}

/* ---- the parent ------------------------------------------------------------------------------- */

bool job_start(struct lsp_job *b, const struct job_question *q, struct why *why)
{
	assert(!b->pid && q->text && q->timeout);
	int ends[2];
	pid_t self = getpid();
	if (pipe2(ends, O_CLOEXEC))
		return why_set(why, "no pipe for the check: %s", strerror(errno));
	pid_t pid = fork();
	if (pid < 0) {
		close(ends[0]);
		close(ends[1]);
		return why_set(why, "no process for the check: %s", strerror(errno));
	}
	if (!pid)
		child(q, ends[1], self);
	close(ends[1]);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	b->pid = pid;
	b->fd = ends[0];
	b->late = false;
	b->deadline = clock_seconds() + (double)q->timeout + (double)JOB_GRACE;
	buf_init(&b->answer);
	return true;
}

bool job_read(struct lsp_job *b)
{
	char block[65536];
	assert(b->pid);
	for (;;) {
		ssize_t n = read(b->fd, block, sizeof block);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return false;
		if (n <= 0)
			return true;
		buf_add(&b->answer, block, (size_t)n);
		if (b->answer.failed || b->answer.len > JOB_ANSWER_MAX)
			return true;
	}
}

void job_free(struct lsp_job *b)
{
	if (b->pid) {
		kill(b->pid, SIGKILL);
		while (waitpid(b->pid, NULL, 0) < 0 && errno == EINTR)
			continue;
		close(b->fd);
	}
	buf_free(&b->answer);
	json_decref(b->id);
	json_decref(b->token);
	free(b->uri);
	free(b->block);
	memset(b, 0, sizeof *b);
}
