/*
 * verify_reduction: is a block, or every block, atomic for any number of threads? The checker's own argument, by the text: Lipton's
 * reduction with the locks of the language and nothing else. It shares no code with src/reduce, knows no locks
 * coded by hand, and so proves less.
 *
 *   held      a lock is held at a node when it is on every way there (forward, must)
 *   conflict  two accesses of the same variable, one of them a write, the elements perhaps the same, of two threads
 *   mover     taking a lock moves right, freeing it left; any other step moves both ways when each of its accesses
 *             has a lock in common with every access it conflicts with, and does not move else
 *   reduces   on every way through the block: right- and both-movers, at most one step that does not move, left- and
 *             both-movers
 *
 * Why that is enough: two steps of two threads that have a lock in common are never next to each other, a lock that is taken is not
 * touched by others until it is freed, so the steps before the one that does not move can be put next to it by exchanging
 * independent neighbours, and so can those after it. The number of threads plays no part. Only executions in which every block ends
 * count (docs/check.md).
 */
#ifndef INTACT_VERDICT_VERIFY_REDUCTION_H
#define INTACT_VERDICT_VERIFY_REDUCTION_H

#include "ir/ir.h"

/*
 * `block`: the one that counts, or VERDICT_PROGRAM; many[t]: there may be any number of template t. NULL when it reduces,
 * else why that is not seen here (nothing is refuted).
 */
const char *verify_reduction(const struct ir *p, uint32_t block, const bool *many);

#endif
