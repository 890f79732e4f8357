/*
 * timeline: tracks with slices and instants, in the formats of viewers that people know: Chrome's JSON (Trace Event
 * Format) and Perfetto's protobuf. A track belongs to one of three groups: threads, locks, findings. The time is the number of
 * the event in the trace: a viewer shows it as microseconds.
 *
 * Slices of one track are closed in the order that nests; calls come in any order of time for different tracks. At most
 * TIMELINE_MAX calls are written; `cut` counts the rest.
 */
#ifndef INTACT_REPORT_TIMELINE_H
#define INTACT_REPORT_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json_out.h"

enum timeline_format { TIMELINE_CHROME, TIMELINE_PERFETTO };
enum timeline_group { TIMELINE_THREADS, TIMELINE_LOCKS, TIMELINE_FINDINGS };
enum { TIMELINE_MAX = 5000000 };
#define TIMELINE_MARK "intact timeline" /* in the first bytes of either format */

struct timeline {
	enum timeline_format format;
	struct buf *out;
	struct json_out json;
	uint64_t written, cut;
};

void timeline_begin(struct timeline *t, enum timeline_format format, struct buf *out);
void timeline_end(struct timeline *t);
/* `id` is the track's number in its group. */
void timeline_track(struct timeline *t, enum timeline_group group, uint32_t id, const char *name);
/* A slice opens; `detail` may be NULL. */
void timeline_open(struct timeline *t, enum timeline_group group, uint32_t id, uint64_t time, const char *name, const char *detail);
void timeline_close(struct timeline *t, enum timeline_group group, uint32_t id, uint64_t time);
void timeline_instant(struct timeline *t, enum timeline_group group, uint32_t id, uint64_t time, const char *name,
                      const char *detail);

#endif
