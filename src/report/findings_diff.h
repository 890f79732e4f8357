/*
 * findings_diff: what two documents of `intact run` say that the other does not.
 *
 * A finding is known by its function (and the name of the marked block), the pattern, and the calls between the function and
 * both sides of the gap, by name: lines and addresses may have moved. Findings of one function are compared with each
 * other; suppressed ones are not there.
 */
#ifndef INTACT_REPORT_FINDINGS_DIFF_H
#define INTACT_REPORT_FINDINGS_DIFF_H

#include <jansson.h>
#include <stdint.h>

#include "base/buf.h"

struct findings_diff {
	uint32_t added, gone, changed;
};

/* The differences, a line each (`only_new`: of new findings only), and a line that counts all. */
struct findings_diff findings_diff(const json_t *before, const json_t *after, bool only_new, struct buf *out);

#endif
