/* trace_judged: what was found in a recorded execution, as data, as text and as a result of a document. */
#ifndef INTACT_REPORT_TRACE_JUDGED_H
#define INTACT_REPORT_TRACE_JUDGED_H

#include <jansson.h>

#include "report/trace_judged.h"
#include "report/trace_report.h"
#include "base/json_out.h"
#include "event/names.h"
#include "verdict/predicted.h"

struct run_shown {
	uint32_t count, confirmed, suppressed;
	uint32_t known; /* in the baseline */
	bool cut;       /* there was more than is kept */
};

/* The findings of the run that a recording is of. */
struct recorded {
	struct buf results; /* JSON: results of `intact run`, commas between them */
	struct buf summary; /* its closing lines */
	struct run_shown shown;
	uint32_t processes;
	uint64_t records;
	bool failed, nomem; /* cannot be read; out of memory */
};

/* One file and what became of it. */
struct trace_judged {
	const char *file, *algorithm;
	int code;                        /* exit code: 0 holds, 1 violated, 2 cannot be judged, 3 unknown */
	const char *limit;               /* the one that was reached, or NULL */
	const struct trace_names *names; /* NULL: it could not be opened */
	struct cycles found;
	const struct predictions *predicted; /* NULL: not asked */
	uint64_t events, blocks;
	uint64_t process; /* the one that was asked about; 0: none */
	bool failed, damaged;
	bool recording;
	struct recorded rec; /* when it is one */
};

/* One JSON object: a result of a document. */
void trace_json(const struct trace_judged *j, struct buf *out);

struct trace_text_options {
	unsigned width;
	bool color;
	bool quiet; /* the verdict's line alone */
	bool full;  /* long cycles in full length */
};
/* Such a result as text. */
void trace_text(const json_t *result, const struct trace_text_options *how, struct buf *out);

/* ---- trace_predict.c: what --predict found ---- */

/* The member "predicted". */
void predict_json(const struct predictions *p, const struct trace_names *t, struct json_out *j);

#endif
