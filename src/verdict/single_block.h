/*
 * single_block: the runs of a program in which one block's marks count, as runs of the whole program, and back.
 *
 * A question about one block is asked of a program in which the other blocks' marks are as if absent
 * (lang_load_again). It has no steps for entering and leaving those blocks: what a thread computes after such a
 * boundary is part of the step before it. A run of it is a run of the whole program in which every step is
 * followed by the boundaries it leads to; boundaries touch nothing shared, so their position among the steps of
 * other threads does not matter. Picks identify the outcomes: those of a step are those of the step and of the
 * boundaries after it, in order.
 */
#ifndef INTACT_VERDICT_SINGLE_BLOCK_H
#define INTACT_VERDICT_SINGLE_BLOCK_H

#include "verdict/verdict.h"

/*
 * `whole` is the model, `alone` the same with the marks of `block` only. The path of one as a path of the
 * other, malloc'ed in *out. False: no memory, or it is no path of `alone` (of `whole`).
 */
bool single_block_to_whole(const struct ir *alone, const struct ir *whole, uint32_t block, const struct move *path, uint32_t n,
                           struct move **out, uint32_t *nout);
bool single_block_from_whole(const struct ir *alone, const struct ir *whole, uint32_t block, const struct move *path, uint32_t n,
                             struct move **out, uint32_t *nout);

#endif
