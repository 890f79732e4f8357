/*
 * trace_recorded: the findings of `intact run`, made again from a recording
 * (dynamic/replay.h).
 */
#ifndef INTACT_JUDGE_TRACE_RECORDED_H
#define INTACT_JUDGE_TRACE_RECORDED_H

#include "base/buf.h"
#include "event/reader.h"
#include "program/run_report.h"

/* Reads the file, once for each process of it and its parents. */
void recorded_judge(const struct run_reporting *how, const char *file, struct msgs *m, struct recorded *out);
void recorded_free(struct recorded *r);

#endif
