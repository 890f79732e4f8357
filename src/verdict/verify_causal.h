/*
 * verify_causal: an independent judge of causal counterexamples that are
 * concrete runs. Shares nothing with the causal engines: it works out the
 * causal order of the run that was replayed and looks for the cycle itself.
 */
#ifndef INTACT_VERDICT_VERIFY_CAUSAL_H
#define INTACT_VERDICT_VERIFY_CAUSAL_H

#include "verdict/run.h"

/*
 * For a block: has the run an occurrence of it with an event of another thread
 * causally between two of its events? For VERDICT_PROGRAM: do occurrences of
 * blocks and outside steps have to come before each other in a circle? NULL
 * when so, else why not. Sets *unknown when it cannot tell (a long run, memory).
 */
const char *verify_causal(const struct run *r, uint32_t block, bool *unknown);

#endif
