/*
 * check: a whole history judged: split by key (and sets by element), each
 * part by the algorithm that fits, parts shared out among threads.
 */
#ifndef INTACT_LIN_CHECK_H
#define INTACT_LIN_CHECK_H

#include "lin/lin.h"

/* False: out of memory before anything could be judged. A refusal of the
 * chosen algorithm is in the verdict (LIN_REFUSED) of a part. */
bool lin_check(struct history *h, const struct interpretation *in, const struct lin_check_options *o, struct check *c);
void check_free(struct check *c, struct history *h);
/* An operation as it was known before its response; false: one that only observes, which need not be known then. */
bool hop_still_open(struct hop *op);
/* A part as a problem of its own, ranks made dense; the caller frees ops
 * (lim_free, part->n records) unless it is the whole history. */
bool part_problem(const struct history *h, const struct interpretation *in, const struct check *c, const struct part *part,
                  struct problem *p, struct hop **ops);
/* An order of what was known before a violated part became so, in numbers of
 * the history; the caller frees it. NULL: it is not known, or takes long. */
uint32_t *part_order(const struct history *h, const struct interpretation *in, const struct check *c, const struct part *part,
                     uint32_t *n);

#endif
