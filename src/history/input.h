/*
 * input: bytes from a file or standard input, plain, gzip or zstd.
 *
 * A window slides over the text: [pos, end) is what has been read and not yet
 * consumed, followed by a NUL so that scanners need no bounds check. The
 * first bytes determine the kind of compression. Memory: the window (1 MiB)
 * unless one record is larger, up to INPUT_MAX_RECORD.
 */
#ifndef INTACT_HISTORY_INPUT_H
#define INTACT_HISTORY_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define INPUT_MAX_RECORD ((size_t)64 << 20)

struct input {
	const char *name; /* as messages call it */
	char *buf;
	size_t pos, end, cap;
	bool eof;
	const char *error; /* NULL or why reading stopped */
	const char *hint;  /* NULL or what to do about it */
	struct buf *copy;  /* the text once more, up to copy_max bytes; or NULL */
	size_t copy_max;
	int fd;
	bool own_fd;
	struct decoder *dec;
};

/* "-" is standard input. False: in->error says why. */
bool input_open(struct input *in, const char *path);
/* Keeps the text (its beginning, of a long one), to show lines of a file that
 * cannot be read again. */
void input_keep(struct input *in, struct buf *copy, size_t max);
/* A window over text in memory (copied). */
bool input_open_text(struct input *in, const char *name, const char *text, size_t len);
void input_close(struct input *in);
/* Reads more after `end`, moving the window's start to 0 first. Returns false
 * at the end of the text or on an error. */
bool input_fill(struct input *in);
/* All that was read is consumed, and nothing more comes for some nanoseconds. */
bool input_idle(const struct input *in, int64_t ns);

#endif
