/*
 * explain: one sentence that says what went wrong in a run that no serial
 * order explains.
 *
 * Looks for the patterns people know, in this order: a lost update (read,
 * foreign write, own write of the same variable), two reads that disagree, a
 * value that was only there in the middle of another block, and else names a
 * foreign step between two steps of a block that touches what it touches.
 */
#ifndef INTACT_VERDICT_EXPLAIN_H
#define INTACT_VERDICT_EXPLAIN_H

#include "base/buf.h"
#include "verdict/run.h"

/* `block`: the one in question or VERDICT_PROGRAM. Steps that the sentence
 * speaks of are set in `marks` (nsteps of them). False: nothing to say. */
bool explain_run(const struct run *r, uint32_t block, bool *marks, struct buf *out);

#endif
