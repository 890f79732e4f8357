/*
 * job: a check in a child process, which can be killed at any time.
 *
 * The child loads the text, checks it with the library and writes its answer to a pipe: one byte ('D' a document, 'M' a message: why there is
 * none), then the bytes. The check has a time limit and a memory limit of its own, so that its answer is *unknown (time)*; a child that
 * does not answer JOB_GRACE seconds after that is killed. It shares nothing with the client's streams.
 */
#ifndef INTACT_LSP_JOB_H
#define INTACT_LSP_JOB_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

enum { JOB_GRACE = 10, JOB_ANSWER_MAX = 64 << 20 };

struct job_question {
	const char *name, *text;
	size_t len;
	bool sml;
	const char *block; /* NULL: the whole model */
	uint64_t timeout, max_memory;
};

struct lsp_job {
	pid_t pid; /* 0: this one is free */
	int fd;
	struct buf answer;
	double deadline;
	bool late; /* it was killed at its deadline */
	/* who asked what */
	json_t *id, *token; /* of the request; of its progress or NULL */
	char *uri, *block;
	bool show; /* the run is to be shown */
};

/* Starts it; false: *why says why not. */
bool job_start(struct lsp_job *b, const struct job_question *q, struct why *why);
/* Reads what is there; true when the answer is complete (or there will be none). */
bool job_read(struct lsp_job *b);
/* Kills it if it still runs, and frees it. */
void job_free(struct lsp_job *b);

#endif
