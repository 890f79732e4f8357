/*
 * recorder: records (record.h) of one or more processes into a trace file.
 *
 * A block holds records of one process, as its threads packed them
 * (record_stream.h), and compressed; what a process sent is in the order of its
 * blocks. Memory: one block a process. A block is written whole, so a file that
 * is cut is read up to the cut.
 *
 * With `keep`, the file is a row of parts, and the oldest goes when they are
 * more than that many bytes together: see recorder.c. What the threads packed
 * depends on the dropped part, so it is packed again (record_pack.h), which costs
 * more.
 */
#ifndef INTACT_EVENT_RECORDER_H
#define INTACT_EVENT_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "event/record.h"

struct recorder;

/* NULL on failure with *why. */
struct recorder *recorder_open(const char *path, uint64_t keep, struct why *why);
/* Takes bytes that a slot of a process (numbers from 0) has packed, in two
 * pieces (whole records together). False when writing failed (sticky; what
 * follows is dropped). */
bool recorder_span(struct recorder *r, uint32_t process, unsigned slot, const void *a, size_t na, const void *b, size_t nb);
/* Takes one record that is not packed, a TEXT with all its letters. */
bool recorder_plain(struct recorder *r, uint32_t process, const struct rec *rec, size_t n);
/* A program counter that was used; that many records were in the spans. */
void recorder_pc(struct recorder *r, uint64_t pc);
void recorder_count(struct recorder *r, uint64_t records, uint64_t accesses);
/* Writes what is held: nothing more comes for a while, or from this process. */
bool recorder_flush(struct recorder *r, uint32_t process);
/* Program counters and modules that were told of, for symbols. */
struct recorder_module {
	uint64_t lo, hi, base;
	char *path;
	uint64_t from; /* `lo` before it was moved (REC_MODULE, 2); 0: it was not */
};
struct recorder_seen {
	const uint64_t *pcs;
	uint32_t npcs;
	const struct recorder_module *modules;
	uint32_t nmodules;
};
void recorder_seen(const struct recorder *r, struct recorder_seen *out);
/* A block of text with names for them (report/symbols_save.c). */
bool recorder_symbols(struct recorder *r, const char *text, size_t len);
/* Writes what is left and closes; false, with *why, when anything failed. */
bool recorder_close(struct recorder *r, struct why *why);

struct recorder_size {
	uint64_t records, accesses, bytes; /* bytes of the file so far */
};
void recorder_size(const struct recorder *r, struct recorder_size *out);

#endif
