/*
 * schedule_text: a run's schedule as `intact sim --schedule` and `intact verify` read it: the numbers of the threads
 * from 1, after a dot which of several outcomes a step takes. "1,2.2,1".
 */
#ifndef INTACT_VERDICT_SCHEDULE_TEXT_H
#define INTACT_VERDICT_SCHEDULE_TEXT_H

#include "base/buf.h"
#include "verdict/run.h"

void schedule_text_step(const struct run *r, uint32_t step, struct buf *out);
void schedule_text(const struct run *r, struct buf *out);

#endif
