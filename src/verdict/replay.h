/* replay: a verdict's path as a run, a run as moves, and as the text of its schedule. */
#ifndef INTACT_VERDICT_REPLAY_H
#define INTACT_VERDICT_REPLAY_H

#include "verdict/run.h"
#include "verdict/verdict.h"
#include "base/buf.h"

/* Takes the moves on a fresh run; false when one is not possible. */
bool replay(struct run *r, const struct move *path, uint32_t n);
/* The steps of a run as moves: r->nsteps of them, malloc'ed. */
bool replay_moves(struct run *r, struct move **path);

/* A run's schedule as `intact sim --schedule` and `intact verify` read it: the numbers of the threads from 1, after a dot
 * which of several outcomes a step takes. "1,2.2,1". */
void schedule_text_step(const struct run *r, uint32_t step, struct buf *out);
void schedule_text(const struct run *r, struct buf *out);

#endif
