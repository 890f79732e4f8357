/*
 * object_history: the history of an object test as `intact history` would read it, for an object of `intact history` or a
 * specification file: made of operations directly; as text only when a message about it is wanted.
 */
#ifndef INTACT_JUDGE_OBJECT_HISTORY_H
#define INTACT_JUDGE_OBJECT_HISTORY_H

#include "judge/object_judge.h"

struct check;

/* Asks j->run about the history, which is j->at_hand, of j->scenario; j->reason says why it is not explained. */
enum seq_verdict object_ask_history(struct object_judge *j, const struct objtest_scenario *sc, const struct objtest_history *h);
/* What j->run calls with what it has decided: the order that it found goes to j->ordered and j->before. */
void object_keep_order(void *judge, const struct history *h, const struct check *c);

#endif
