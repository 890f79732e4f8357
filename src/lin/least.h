/* least: how far from atomic a part of a history is: the least k of k-atomicity, the least staleness of its reads. */
#ifndef INTACT_LIN_LEAST_H
#define INTACT_LIN_LEAST_H

#include "lin/lin.h"

/* The least k for which the part is k-atomic in part->k; part->r says why it is not atomic, or is the result with k. */
enum lin_verdict lin_least_k(const struct problem *p, struct part *part);
/* The least time by which reads would have to be invoked earlier for the part to be atomic, in part->delta (-1: none helps). */
enum lin_verdict lin_least_delta(const struct history *h, const struct check *c, const struct problem *p, struct part *part);

#endif
