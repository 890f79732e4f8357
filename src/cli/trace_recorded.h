/*
 * trace_recorded: the findings of `intact run`, made again from a recording
 * (dynamic/replay.h).
 */
#ifndef INTACT_CLI_TRACE_RECORDED_H
#define INTACT_CLI_TRACE_RECORDED_H

#include "base/buf.h"
#include "cli/cli.h"
#include "cli/run_report.h"
#include "cli/trace_tools.h"

struct recorded {
	struct buf text;        /* the report */
	struct buf results;     /* the same as JSON: results of `intact run` */
	struct run_shown shown;
	uint32_t processes;
	uint64_t records;
	bool failed, nomem;     /* cannot be read; out of memory */
};

/* Reads the file, once for each process of it and its parents. */
void recorded_judge(struct cli *cli, const char *file, struct msgs *m, struct recorded *out);
void recorded_free(struct recorded *r);

#endif
