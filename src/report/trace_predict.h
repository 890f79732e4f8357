/* trace_predict: what --predict found, as text and JSON. */
#ifndef INTACT_REPORT_TRACE_PREDICT_H
#define INTACT_REPORT_TRACE_PREDICT_H

#include <stdbool.h>

#include "base/buf.h"
#include "event/names.h"
#include "verdict/predicted.h"

void predict_text(const struct predictions *p, const struct trace_names *t, bool color,
                  struct buf *out);
/* One JSON object. */
void predict_json(const struct predictions *p, const struct trace_names *t, struct buf *out);

#endif
