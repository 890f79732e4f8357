/*
 * product_agree: ids that several processes give out alike.
 *
 * Processes (ranks) that search together send each other states, which are vectors of ids: an id must mean the same to all.
 * Up to a mark all tables of the product are equal; what a rank adds beyond is its own, and no state has such an id: a step
 * that leads to one is answered with PROD_WIDEN, and the state that it is a step of waits. At the end of a level each rank
 * tells the others the contents of what it has added; all forget what is beyond the mark and add what all ranks told, each
 * content once, in the order of the contents. So the tables are equal again, with a new mark.
 *
 * What the memo has learned stays: entries name no id beyond the mark.
 */
#ifndef INTACT_EXPLORE_PRODUCT_AGREE_H
#define INTACT_EXPLORE_PRODUCT_AGREE_H

#include "explore/product.h"

struct product_mark {
	uint32_t plain_globals, globals, scripts;
	uint32_t *frames, *locals; /* by kind */
};

/* All that there is is agreed. False when out of memory. */
bool product_mark_all(struct product *x, struct product_mark *m);
void product_mark_free(struct product_mark *m);
/* The contents beyond the mark. */
void product_tell(const struct product *x, const struct product_mark *m, struct buf *out);
/* What n ranks told, one after the other, becomes the tables' end, and the mark is behind it. False: out of memory, or it is
 * not what product_tell writes; then the product is of no use any more. */
bool product_agree(struct product *x, struct product_mark *m, const unsigned char *told, const uint64_t *lengths, uint32_t n);
/* How many ids there are: the same on all ranks that have agreed. */
uint64_t product_ids(const struct product *x);

#endif
