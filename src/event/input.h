/*
 * input: the bytes of a file or pipe, decompressed when they are zstd or gzip
 * (detected by their first bytes, not by the name).
 *
 * Streaming: a fixed buffer on either side. A compressed stream that ends or
 * breaks early returns what can be read, then an error.
 */
#ifndef INTACT_EVENT_INPUT_H
#define INTACT_EVENT_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct trace_input;

/* "-" is standard input. NULL on failure; *why says what happened. */
struct trace_input *trace_input_open(const char *path, struct why *why);
void trace_input_close(struct trace_input *in);
/* Up to n bytes (n > 0); 0 at the end or when nothing more can be read. */
size_t trace_input_read(struct trace_input *in, void *to, size_t n);
/* Not NULL after a read that ended because of an error. */
const char *trace_input_error(const struct trace_input *in);
/* "plain", "zstd" or "gzip". */
const char *trace_input_codec(const struct trace_input *in);

#endif
