/*
 * run_record: `intact run --record`: copies the records of watched processes
 * (event/record.h) from the memory shared with them to a trace file.
 */
#ifndef INTACT_PROGRAM_RUN_RECORD_H
#define INTACT_PROGRAM_RUN_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/console.h"

struct recording;

/* NULL with *why when the file cannot be written. */
struct recording *recording_begin(const char *path, uint64_t keep, struct why *why);
/* A process sent the descriptor of its memory; takes it. */
void recording_add(struct recording *r, int fd);
/* Takes what there is; tells whether there was much of it. */
bool recording_drain(struct recording *r);
/* The program is over: the rest, the names of addresses, the end. Says in
 * `err` what was recorded, or what went wrong (then false). */
bool recording_end(struct recording *r, struct buf *err, bool quiet);

#endif
