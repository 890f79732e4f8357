/*
 * trace_recorded: what trace.c makes of a file besides its judgment: the findings of `intact run`, made again from a recording
 * (dynamic/replay.h), and a predicted reordering as a trace of its own (trace_witness.c).
 */
#ifndef INTACT_JUDGE_TRACE_RECORDED_H
#define INTACT_JUDGE_TRACE_RECORDED_H

#include <stdbool.h>

#include "base/buf.h"
#include "event/reader.h"
#include "program/run_report.h"
#include "verdict/predicted.h"

/* Reads the file, once for each process of it and its parents. */
void recorded_judge(const struct run_reporting *how, const char *file, struct msgs *m, struct recorded *out);
void recorded_free(struct recorded *r);

/*
 * Writes the first proven reordering of `file` as a trace to `to` (reading
 * the file again): what `intact trace` then finds in it is the proof. false,
 * and why, when it cannot; *found tells whether there was one.
 */
bool predict_witness(const struct predictions *p, const char *file, const char *to, bool *found, struct why *why);

#endif
