/*
 * reader_int: what the parts of the reader share (reader.h explains it): reader.c
 * opens files and has the calls, reader_std.c the text format, reader_itr.c blocks
 * and records, reader_events.c a recording as events.
 */
#ifndef INTACT_EVENT_READER_INT_H
#define INTACT_EVENT_READER_INT_H

#include <stdio.h>

#include "event/input.h"
#include "event/reader.h"

#define READER_BATCH 4096
#define TEXT_SIZE    ((size_t)256 << 10)

struct trace_reader {
	struct trace_input *in;
	const char *path;
	trace_msg_fn *fn;
	void *ctx;
	struct trace_names names;
	enum trace_format format;
	bool failed, damaged, done;
	uint64_t next_index, line, blocks;
	struct event *events; /* one batch */
	size_t events_cap;
	/* STD: the text read and not yet scanned; ITR: one payload */
	char *text;
	size_t pos, len;
	unsigned char *stored, *raw;
	size_t stored_cap, raw_cap;
	/* recordings */
	bool recording;
	struct record_pack *pack;
	struct rec *recs;
	size_t recs_cap;
	uint64_t next_rec; /* as blocks count them */
	uint64_t nrecs;
	struct recdec **streams; /* by process */
	uint32_t nstreams;
	uint32_t process;
	struct buf symbols;
	struct translate *events_of;
	const struct rec *todo; /* records of the last block not told as events yet */
	size_t ntodo;
	enum lives lives;
	enum leave leave;
	uint32_t wanted; /* process */
	struct symtab symtab;
	char again[64]; /* a name the recording can be opened by again */
	FILE *spool;    /* its bytes, when they came from a pipe */
};

/* Messages; reading ends with each. */
void reader_tell(struct trace_reader *r, struct trace_msg m);
void reader_tell_plain(struct trace_reader *r, bool error, const char *code, const char *text, const char *hint);
void reader_tell_damage(struct trace_reader *r, const char *what);
/* Fills the text buffer up; keeps what has not been scanned. */
void reader_refill(struct trace_reader *r);

/* The next events, into r->events; 0: the end, or a message was told. */
size_t reader_next_std(struct trace_reader *r);
/* The next events, or records into r->recs. */
size_t reader_next_itr(struct trace_reader *r);
/* A recording's records as events. */
size_t reader_next_recorded(struct trace_reader *r, struct event **batch);
/* What was only needed to read on goes. */
void reader_release(struct trace_reader *r);

#endif
