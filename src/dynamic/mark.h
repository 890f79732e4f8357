/*
 * mark: the reduction automaton of blocks marked atomic (Atomizer 2.2).
 *
 *   RIGHT --release, non-mover--> LEFT --acquire, non-mover--> violation
 *
 * Called for every event of a thread that has marked blocks open (reduction.c,
 * sections.c); the innermost block that is violated is blamed, the ones around
 * it are then done with.
 *
 * In addition there is the exact check of this one run (reach.h): a block on a
 * cycle of conflicts is at fault whatever the automaton says. It confirms what
 * the automaton has found of the block, or is a finding itself.
 */
#ifndef INTACT_DYNAMIC_MARK_H
#define INTACT_DYNAMIC_MARK_H

#include "dynamic/reduction.h"

void mark_acquire(struct dynamic *d, struct thread *t, uint32_t lock, uint32_t stack, bool wait);
void mark_release(struct thread *t, uint32_t lock, uint32_t stack, bool wait);
void mark_access(struct dynamic *d, struct thread *t, uintptr_t addr, const struct race *r, bool write, uint32_t stack);
/* Blocks that have not committed, a bit for each. */
uint32_t mark_right(const struct thread *t);
/* The access was an atomic read; those blocks had not committed before it. (It
 * commits them only if the data is known to be shared.) */
void mark_looked(struct thread *t, uintptr_t addr, uint32_t before);
/* The latest of these reads, if it was of `addr`, is done again, or might as well
 * be done now; `tried`: only one that was a compare-and-swap. */
void mark_looks_again(struct thread *t, uintptr_t addr, bool tried);
/* A cycle of conflicts has closed (reach.h); `now` says at what: address, lock,
 * violation. To be called after the ones above. */
void mark_cycle(struct dynamic *d, struct thread *t, const struct reach_cycle *c, struct finding *now);

#endif
