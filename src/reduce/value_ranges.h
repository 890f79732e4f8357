/*
 * value_ranges: can a fault happen at all?
 *
 * An interval for each shared variable and for each slot of a template,
 * whatever the schedule and the number of threads: each step's code is run
 * path by path with what is known of its operands, what it stores is joined
 * in, and this is repeated until nothing changes (after a few rounds what
 * still grows is set to its declared range). Releases are checked against
 * the locks certainly held, `commit;` against whether the block may have
 * committed before. Where nothing can go wrong, faults need not be searched
 * for; else nothing is said. Cost: a few walks over the program.
 */
#ifndef INTACT_REDUCE_VALUE_RANGES_H
#define INTACT_REDUCE_VALUE_RANGES_H

#include "reduce/flow.h"

/* True when no execution, of any number of threads, has a fault. */
bool value_ranges_fault_free(const struct flow *f, struct arena *a);

#endif
