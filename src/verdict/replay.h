/* replay: a verdict's path as a run. */
#ifndef INTACT_VERDICT_REPLAY_H
#define INTACT_VERDICT_REPLAY_H

#include "verdict/run.h"
#include "verdict/verdict.h"

/* Takes the moves on a fresh run; false when one is not possible. */
bool replay(struct run *r, const struct move *path, uint32_t n);
/* The steps of a run as moves: r->nsteps of them, malloc'ed. */
bool replay_moves(struct run *r, struct move **path);

#endif
