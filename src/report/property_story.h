/* property_story: a sentence about the state in which a condition on states is violated. */
#ifndef INTACT_REPORT_PROPERTY_STORY_H
#define INTACT_REPORT_PROPERTY_STORY_H

#include "base/buf.h"
#include "verdict/run.h"

/* Of the run's last state. */
void property_story(const struct run *r, uint32_t property, struct buf *out);

#endif
