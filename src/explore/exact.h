/*
 * exact: atomicity as LANGUAGE.md defines it, with no commit points.
 *
 * Breadth-first over pairs of an interleaved state and the set of shadows
 * that still explain it (shadows.h). A quiescent state that is not in its
 * own set is a violation: no serial execution of the same block instances,
 * each taking effect between its entry and its exit, ends there.
 */
#ifndef INTACT_EXPLORE_EXACT_H
#define INTACT_EXPLORE_EXACT_H

#include "explore/search.h"

/* Same contract as search_run; SEARCH_WRONG is a violation of atomicity. */
void exact_run(const struct ir *ir, uint32_t block, const struct search_options *o,
               struct search_result *r);

/*
 * Is this one execution explained? 1 yes, 0 no, -1 unknown (a limit). The
 * moves must be possible and end in a quiescent state.
 */
int exact_explains(const struct ir *ir, uint32_t block, const struct search_move *path, uint32_t n);

#endif
