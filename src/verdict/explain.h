/*
 * explain: one sentence that says what went wrong in a run that no serial
 * order explains.
 *
 * Looks for the patterns people know, in this order:
 *
 *   lost update     a block read a variable, another thread wrote it, the
 *                   block wrote over that
 *   two reads       a block read a variable twice, and it was changed in between
 *   crossed         two blocks each saw what the other wrote: each would have
 *                   to come after the other
 *   half an update  another thread saw what a block had written, and something
 *                   else before the block wrote it (or between two writes)
 *   torn read       a block read one variable before and another one after
 *                   another thread changed both
 *   skew            two blocks each read what the other then changed: each
 *                   would have to come before the other
 *   check, then act a block read a variable, another thread changed it, and the
 *                   block wrote based on what it had read
 *   in the middle   steps of another thread that must come after one step of
 *                   the block and before another
 *   a circle        through any number of threads
 *
 * Reads count as seeing a write when it is the last one before them. Locks are
 * no data here. Cost: cubic in the accesses of the run; beyond EXPLAIN_MAX of
 * them only the first two patterns are looked for.
 */
#ifndef INTACT_VERDICT_EXPLAIN_H
#define INTACT_VERDICT_EXPLAIN_H

#include "base/buf.h"
#include "verdict/run.h"

#define EXPLAIN_MAX 600u

/* A sentence without its full stop; it begins with a capital letter, or with
 * a thread's name. `block`: the one in question or VERDICT_PROGRAM. Steps that the sentence
 * speaks of are set in `marks` (nsteps of them). False: nothing to say. */
bool explain_run(const struct run *r, uint32_t block, bool *marks, struct buf *out);

#endif
