/*
 * trace_timeline: a trace and what was found in it as a timeline (report/timeline.h): on each thread's track its blocks,
 * forks and joins; on each lock's track who holds it; on a track for each finding its extent: of a cycle the events from the first
 * to the closing one, of a finding of a recorded run the gap between the release and the acquisition that it names.
 */
#ifndef INTACT_JUDGE_TRACE_TIMELINE_H
#define INTACT_JUDGE_TRACE_TIMELINE_H

#include <stdbool.h>

#include "base/buf.h"
#include "report/timeline.h"

/* `results`: the trace's result as JSON (trace_sink). `process`: which one of a recording, from 1; 0: the first. False after a
 * message in `err`. *cut: how many slices and instants did not fit. */
bool trace_timeline(const char *file, uint64_t process, const struct buf *results, enum timeline_format format, struct buf *out,
                    struct buf *err, uint64_t *cut);

#endif
