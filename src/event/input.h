/*
 * input: the bytes of a file or pipe, decompressed when they are zstd or gzip
 * (told by their first bytes, not by the name).
 *
 * Streaming: a fixed buffer on either side. A compressed stream that ends or
 * breaks early gives what can be had, then an error.
 */
#ifndef INTACT_EVENT_INPUT_H
#define INTACT_EVENT_INPUT_H

#include <stdbool.h>
#include <stddef.h>

struct input;

/* "-" is standard input. NULL on failure; *why says what happened (a string
 * that lives for ever). */
struct input *input_open(const char *path, const char **why);
void input_close(struct input *in);
/* Up to n bytes (n > 0); 0 at the end or when nothing more can be read. */
size_t input_read(struct input *in, void *to, size_t n);
/* Not NULL after a read that ended because of an error. */
const char *input_error(const struct input *in);
/* "plain", "zstd" or "gzip". */
const char *input_codec(const struct input *in);

#endif
