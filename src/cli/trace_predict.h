/* trace_predict: what --predict found, as text and JSON. */
#ifndef INTACT_CLI_TRACE_PREDICT_H
#define INTACT_CLI_TRACE_PREDICT_H

#include <stdbool.h>

#include "base/buf.h"
#include "dynamic/predict.h"
#include "event/names.h"

void predict_text(const struct predict *p, const struct trace_names *t, bool color,
                  struct buf *out);
/* One JSON object. */
void predict_json(const struct predict *p, const struct trace_names *t, struct buf *out);

/*
 * Writes the first proven reordering of `file` as a trace to `to` (reading
 * the file again): what `intact trace` then finds in it is the proof. NULL
 * when done, else what went wrong; *found tells whether there was one.
 */
const char *predict_witness(const struct predict *p, const char *file, const char *to,
                            bool *found);

#endif
