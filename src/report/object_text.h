/*
 * object_text: a history of an object as a drawing, one line per thread,
 * time from left to right (Fig. 6 of the SOAR paper):
 *
 *     writer  ├─w1 write(true)────────────────────────────┤
 *     reader     ├─r1 read → true─┤ ├─r2 read → false─┤
 *
 * Only the order of calls and answers is to scale. Where the page is too
 * narrow for it, the operations are listed with their steps.
 */
#ifndef INTACT_REPORT_OBJECT_TEXT_H
#define INTACT_REPORT_OBJECT_TEXT_H

#include "verdict/object_history.h"

void object_draw(const struct object_history *h, unsigned width, bool utf8, struct buf *out);

#endif
