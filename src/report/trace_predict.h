/* trace_predict: what --predict found, as JSON. */
#ifndef INTACT_REPORT_TRACE_PREDICT_H
#define INTACT_REPORT_TRACE_PREDICT_H

#include "base/json_out.h"
#include "event/names.h"
#include "verdict/predicted.h"

/* The member "predicted". */
void predict_json(const struct predictions *p, const struct trace_names *t, struct json_out *j);

#endif
