/* trace_witness: a predicted reordering as a trace of its own. */
#ifndef INTACT_JUDGE_TRACE_WITNESS_H
#define INTACT_JUDGE_TRACE_WITNESS_H

#include <stdbool.h>

#include "verdict/predicted.h"

/*
 * Writes the first proven reordering of `file` as a trace to `to` (reading
 * the file again): what `intact trace` then finds in it is the proof. NULL
 * when done, else what went wrong; *found tells whether there was one.
 */
const char *predict_witness(const struct predictions *p, const char *file, const char *to, bool *found);

#endif
