/*
 * explore_accesses: which of the plain accesses of a failing schedule are worth
 * telling: those of data that several threads use, one of them for writing.
 */
#ifndef INTACT_PROGRAM_EXPLORE_ACCESSES_H
#define INTACT_PROGRAM_EXPLORE_ACCESSES_H

#include "base/arena.h"
#include "sched/control.h"

enum { EXPLORE_ACCESSES = 1000 }; /* at most, the last ones */

/* They are returned in order, as an array in the arena; *n is how many. */
const struct control_access **explore_accesses(const struct control *c, struct arena *a, uint32_t *n);

#endif
