/*
 * suspicion: is the run that the causal engine found a violation? When the
 * data allow it, and the searches have run out of their budget, it is
 * continued until the threads inside blocks have left them, and that one
 * execution is decided exactly.
 */
#ifndef INTACT_CHECK_SUSPICION_H
#define INTACT_CHECK_SUSPICION_H

#include "verdict/verdict.h"

/*
 * True when it is: the whole run is in *out (malloc'ed), *nout steps. `block`:
 * the one that counts, or VERDICT_PROGRAM; `bytes` of memory are enough or it is not known.
 */
bool suspicion_holds(const struct ir *p, uint32_t block, const struct move *path, uint32_t n, uint64_t bytes, struct move **out,
                     uint32_t *nout);

#endif
