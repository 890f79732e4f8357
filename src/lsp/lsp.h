/*
 * lsp: the language server of models and specifications (Language Server Protocol 3.17 on a byte stream).
 *
 * A session is fed with bytes and appends its answers to a buffer, so that tests and fuzzers drive it without processes; lsp_serve
 * connects one to file descriptors. Files are analysed by the front end (`lang`) when nothing more is waiting to be read; checks
 * run in child processes with a time limit (job.h) through the library (`intact/intact.h`).
 *
 * Nothing that is received is trusted: frames, JSON, positions, sizes and numbers of files are bounded (frame.h, text.h, LSP_MAX_*).
 */
#ifndef INTACT_LSP_LSP_H
#define INTACT_LSP_LSP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct lsp;

enum {
	LSP_MAX_DOCUMENTS = 1000, /* open files */
	LSP_MAX_JOBS = 4,         /* checks at a time */
};

struct lsp_options {
	uint64_t timeout;    /* seconds a check may take */
	uint64_t max_memory; /* bytes of a check */
	bool no_checks;      /* refuse them: nothing is forked */
};

/* NULL: out of memory. */
struct lsp *lsp_new(const struct lsp_options *o);
/* Ends its checks and removes the pages that it wrote. */
void lsp_free(struct lsp *s);
/* What has arrived; any number of messages and parts of them. */
void lsp_receive(struct lsp *s, const char *bytes, size_t len);
/* Nothing more is waiting to be read: files that have changed are analysed, and their diagnostics published. */
void lsp_idle(struct lsp *s);
/* What is to be sent; the caller clears it. */
struct buf *lsp_output(struct lsp *s);
/* The client asked for the end; *code is what the process should exit with: 0, or 1 when it did not shut the server down before. */
bool lsp_ended(const struct lsp *s, int *code);

/* Serves until the client ends it or the stream ends; the exit code. */
int lsp_serve(const struct lsp_options *o, int in, int out);

#endif
