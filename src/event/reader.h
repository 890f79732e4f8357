/*
 * reader: a trace file as a stream of events, in batches.
 *
 * Formats: Intact's own (itr.h) and STD text (std.h), distinguished by the
 * first bytes, each plain or inside zstd or gzip. Memory: one batch, one
 * block, the name tables.
 *
 * Messages (syntax errors, damage) go to the callback in the order they are
 * met. After an error the reader gives no more events. Damage is a warning:
 * everything before it has been returned.
 */
#ifndef INTACT_EVENT_READER_H
#define INTACT_EVENT_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "event/event.h"
#include "event/names.h"
#include "event/record.h"
#include "event/translate.h"

struct trace_msg {
	bool error;       /* else a warning */
	const char *code; /* a slug */
	const char *file;
	uint64_t line;       /* 0: no line */
	uint64_t event;      /* 0: no event */
	uint32_t col, width; /* from 1; 0: no column */
	const char *source;  /* the line's text, or NULL */
	size_t source_len;
	const char *text;
	const char *hint; /* or NULL */
};
typedef void trace_msg_fn(void *ctx, const struct trace_msg *m);

/* file:line:col: error: text [code], the line with a caret, the hint. */
void trace_msg_render(const struct trace_msg *m, struct buf *out, bool color);

enum trace_format { FORMAT_STD, FORMAT_ITR };

struct trace_reader;

/* NULL when the file cannot be opened or when out of memory; the callback was told. */
struct trace_reader *trace_open(const char *path, trace_msg_fn *fn, void *ctx);
void trace_close(struct trace_reader *r);
/*
 * The next events, owned by the reader until the next call; 0 at the end.
 * The caller may change the flags.
 */
size_t trace_next(struct trace_reader *r, struct event **batch);
/*
 * How a recording's variables are distinguished when memory is reused
 * (translate.h); before the first trace_next. LIVES_NAMED when nothing is said.
 */
void trace_lives(struct trace_reader *r, enum lives lives);
/*
 * Which accesses of a recording are no events of their own (translate.h): they
 * are counted, so that events keep their numbers. Before the first trace_next;
 * LEAVE_NOTHING when nothing is said.
 */
void trace_leave(struct trace_reader *r, enum leave leave);
/* Events up to the last one given, those left out included. */
uint64_t trace_count(const struct trace_reader *r);
/* Which process of a recording is read as events; the first, 0, when nothing is
 * said. Before the first trace_next. */
void trace_process(struct trace_reader *r, uint32_t process);
/* True when reading stopped at an error. */
bool trace_failed(const struct trace_reader *r);
/* True when the file is cut or damaged: the events given are a prefix. */
bool trace_damaged(const struct trace_reader *r);
/*
 * A recording (record.h) can be had as it is instead of as events: the next
 * records, of one process (*process has ITR_OPENING when they represent what
 * was not kept). They have been checked (rec_check).
 */
bool trace_is_recording(const struct trace_reader *r);
size_t trace_next_recs(struct trace_reader *r, struct rec **batch, uint32_t *process);
/* A name under which it can be opened again while this one is open (one from
 * a pipe was put aside). */
const char *trace_reopen(const struct trace_reader *r);
/* Names for its addresses, as far as they were met; "" when there are none. */
const char *trace_symbols(const struct trace_reader *r, size_t *len);
const struct trace_names *trace_reader_names(const struct trace_reader *r);
enum trace_format trace_reader_format(const struct trace_reader *r);
const char *trace_reader_codec(const struct trace_reader *r);

/* ---- what a reader says about a trace, rendered and counted ---- */

/* ctx of msgs_add, which is a trace_msg_fn. */
struct msgs {
	struct buf *err; /* where they go */
	bool color;
	bool silent; /* they have been told already */
	uint64_t errors;
	bool nomem; /* one of them was about memory: a limit, not a mistake */
};
void msgs_add(void *ctx, const struct trace_msg *m);

#endif
