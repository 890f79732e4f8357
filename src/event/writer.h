/*
 * writer: events into a trace file, in Intact's own format or STD, through an
 * optional compressor.
 *
 * The tables of the events' source are written as they grow: a block of names
 * goes out in front of the first block of events that needs it. Memory: one
 * block. Own format: each block is compressed by itself, so a file that is
 * cut can be read up to the cut.
 */
#ifndef INTACT_EVENT_WRITER_H
#define INTACT_EVENT_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "event/event.h"
#include "event/names.h"
#include "event/reader.h"

enum writer_codec { CODEC_NONE, CODEC_ZSTD, CODEC_GZIP };

struct writer_opts {
	enum trace_format format;
	enum writer_codec codec; /* ITR: none or zstd, by block; STD: the stream */
	int level;               /* 0: the codec's default */
	size_t block_events;     /* 0: 65536 */
	bool numeric;            /* STD: places as numbers only */
	bool fixed;              /* ITR: blocks as a recorder writes them */
};

struct trace_writer;

/* Writes to `path` ("-": standard output). NULL on failure with *why. */
struct trace_writer *writer_open(const char *path, const struct writer_opts *o, const struct trace_names *names, struct why *why);
/* Events must come in order. False when writing failed (sticky). */
bool writer_put(struct trace_writer *w, const struct event *ev, size_t n);
/* Writes what is left and closes; false, with *why, when anything failed. */
bool writer_close(struct trace_writer *w, struct why *why);

#endif
