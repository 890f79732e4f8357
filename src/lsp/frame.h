/*
 * frame: the messages of a byte stream, each behind a header with its length:
 *
 *     Content-Length: 42\r\n
 *     \r\n
 *     {...
 *
 * The stream may be cut anywhere and may be hostile. What is wrong is told once (FRAME_BAD) and reading goes on at the next
 * line that begins with Content-Length; a message that is too long is skipped without being stored. Memory: one message.
 */
#ifndef INTACT_LSP_FRAME_H
#define INTACT_LSP_FRAME_H

#include "base/buf.h"

enum { FRAME_MAX = 32 << 20, FRAME_LINE_MAX = 1024 };

enum frame_kind {
	FRAME_NONE, /* more bytes are needed */
	FRAME_MESSAGE,
	FRAME_BAD, /* f->why */
};

struct frame_reader {
	struct buf line, body;
	unsigned long long length, skip; /* of the message; bytes still to be skipped */
	bool has_length, in_body;
	bool lost;       /* a bad header was told; silent until the next good one */
	bool header;     /* some line of a header has been read */
	const char *why; /* FRAME_BAD: static text */
	bool ready;      /* f->body is a message; cleared by the next call */
};

void frame_init(struct frame_reader *f);
void frame_free(struct frame_reader *f);
/* Takes bytes until something is complete: *used says how many. The message is in f->body until the next call. */
enum frame_kind frame_next(struct frame_reader *f, const char *bytes, size_t len, size_t *used);
/* Appends the message with its header. */
void frame_write(struct buf *out, const struct buf *message);

#endif
