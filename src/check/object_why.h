/* object_why: why the history of an object in a run does not meet its condition, as text. */
#ifndef INTACT_CHECK_OBJECT_WHY_H
#define INTACT_CHECK_OBJECT_WHY_H

#include "verdict/object_history.h"

/* One or two sentences; false: it does meet it, or nothing is known. */
bool object_why(const struct object_history *h, enum object_condition c, struct buf *out);

#endif
