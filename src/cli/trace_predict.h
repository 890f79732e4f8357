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

#endif
