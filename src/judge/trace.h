/*
 * trace: recorded executions judged: is every block of a trace atomic in it, and what did the run that a recording is of
 * find? For `intact trace` and the library. The files are streams: read once, batch by batch, through order_check into
 * the analyses.
 */
#ifndef INTACT_JUDGE_TRACE_H
#define INTACT_JUDGE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/opts.h"
#include "event/reader.h"
#include "event/writer.h"

/* The options as they are given. */
struct trace_args {
	int algorithm; /* of trace_algorithms */
	bool predict, lenient, each;
	uint64_t limit, memory, window, process;
	const char *witness, *baseline;
};

#define TRACE_DEFAULTS                       \
	{                                    \
		.limit = 50, .window = 20000 \
	}
extern const char *const trace_algorithms[]; /* ended by NULL */

/* Rows of an option table, for `intact trace` and the library. `o`: a struct trace_args *. */
/* clang-format off */
#define TRACE_FINDING_OPTIONS(o) \
	{ OPT_CHOICE, "algorithm", 'a', "NAME", &(o)->algorithm, \
	  "clock (linear, the default) or graph (transaction graph, slower; for comparison)", 0, 0, trace_algorithms }, \
	{ OPT_FLAG, "predict", 'p', NULL, &(o)->predict, \
	  "also report blocks that other schedules can break", 0, 0, NULL }, \
	{ OPT_UINT, "window", 0, "EVENTS", &(o)->window, \
	  "window of events in which --predict searches for a reordering (default 20000)", 16, 10000000, NULL }, \
	{ OPT_STR, "witness", 0, "FILE", &(o)->witness, \
	  "write the first proven reordering of --predict as a trace", 0, 0, NULL }, \
	{ OPT_UINT, "limit", 'n', "N", &(o)->limit, \
	  "show at most N findings (default 50; 0: all)", 0, 1000000000, NULL }, \
	{ OPT_STR, "baseline", 0, "FILE", &(o)->baseline, \
	  "of a recording: do not report the findings of the run that are in FILE (`intact run --learn`)", 0, 0, NULL }, \
	{ OPT_FLAG, "each", 0, NULL, &(o)->each, \
	  "show every violating block, even if the places are the same", 0, 0, NULL }
/* clang-format on */
/* clang-format off */
#define TRACE_READING_OPTIONS(o) \
	{ OPT_UINT, "process", 0, "N", &(o)->process, \
	  "in a recording of several processes: check the blocks of the Nth (default: the first)", 1, 4096, NULL }, \
	{ OPT_FLAG, "lenient", 0, NULL, &(o)->lenient, \
	  "treat impossible events (a lock held twice, ...) as warnings", 0, 0, NULL }, \
	{ OPT_SIZE, "memory", 'm', "SIZE", &(o)->memory, \
	  "memory limit; when reached, the verdict is unknown", 0, 0, NULL }
/* clang-format on */

/* What is wrong with the options together, or NULL. */
const char *trace_args_wrong(const struct trace_args *o, int files);

/* Where it goes. */
struct trace_sink {
	struct buf *text;    /* the report; NULL: none is wanted */
	struct buf *results; /* JSON, commas between them; NULL: none is wanted */
	struct buf *err;     /* what is wrong with the input */
	bool color, color_err;
	bool quiet;          /* the text is the verdict's line alone */
	unsigned width;      /* columns of the text */
	const char *options; /* for the findings of a recording, as INTACT_OPTIONS has them; NULL: none */
	bool progress;       /* a line on standard error about names that take their time */
};

/* Judges one file ("-": standard input); an exit code (base/console.h). */
int trace_judge(const struct trace_args *o, const char *file, const struct trace_sink *to);

/* ---- trace_tools.c: a trace in another format, and what it contains. Both return an exit code; what is wrong goes to m->err ---- */

/* Format (0: by the name, 1: STD text, 2: our own) and compression (0: by the name, 1: none, 2: zstd, 3: gzip) of a file. */
void trace_choose(const char *path, int to, int compress, struct writer_opts *o);
/* Writes the trace `in` to `to`; *events counts them. */
int trace_copy(const char *in, const char *to, const struct writer_opts *wo, struct msgs *m, uint64_t *events);
/* Threads, events by kind, blocks, locks, and the `top` busiest of each, as text or as JSON. */
int trace_count_file(const char *file, bool json, uint32_t top, struct msgs *m, struct buf *out);

#endif
