/*
 * explore_story: what a search got, with names for addresses: an explore_report.
 */
#ifndef INTACT_PROGRAM_EXPLORE_STORY_H
#define INTACT_PROGRAM_EXPLORE_STORY_H

#include "program/explore_search.h"
#include "report/explore.h"

void explore_story(const struct explore_ask *ask, const struct explore_got *got, struct arena *a, struct explore_report *out);

/* The exit code of what is told: EXIT_UNKNOWN, too, when every trace was asked for and not seen. */
int explore_code(const struct explore_ask *ask, const struct explore_report *r);

/* " at FUNCTION FILE:LINE", for c->pc; nothing when it is not known. */
void explore_say_place(struct buf *out, const struct control *c);

/* A schedule that failed did not when it was repeated: what happened instead. */
void explore_say_repeated(struct buf *out, const struct control *found, const struct control *again);

#endif
