/* trace_witness: a predicted reordering as a trace of its own. */
#ifndef INTACT_JUDGE_TRACE_WITNESS_H
#define INTACT_JUDGE_TRACE_WITNESS_H

#include <stdbool.h>

#include "base/buf.h"
#include "verdict/predicted.h"

/*
 * Writes the first proven reordering of `file` as a trace to `to` (reading
 * the file again): what `intact trace` then finds in it is the proof. false,
 * and why, when it cannot; *found tells whether there was one.
 */
bool predict_witness(const struct predictions *p, const char *file, const char *to, bool *found, struct why *why);

#endif
