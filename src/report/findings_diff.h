/*
 * findings_diff: what two documents of `intact run` say that the other does not, as a document (docs/json.md, kind "diff") and its
 * text.
 *
 * A finding is known by its function (and the name of the marked block), the pattern, and the calls between the function and
 * both sides of the gap, by name: lines and addresses may have moved. Findings of one function are compared with each
 * other; suppressed ones are not there, and those of a baseline are.
 *
 * The verdict is violated when a finding is new. A second run that came to no answer (nothing was watched, a signal ended it)
 * says nothing about what is not in it: without a new finding the verdict is unknown then.
 */
#ifndef INTACT_REPORT_FINDINGS_DIFF_H
#define INTACT_REPORT_FINDINGS_DIFF_H

#include <jansson.h>

#include "base/buf.h"

struct findings_diff {
	const char *before_file, *after_file;
	const json_t *before, *after;
	bool only_new; /* results are new findings only; all are counted */
};

/* The differences as a document. */
void findings_diff(const struct findings_diff *d, struct buf *out);
/* Such a document as text: a line for each result, one that counts all, and why it is unknown. */
void findings_diff_text(const json_t *doc, struct buf *out);

#endif
