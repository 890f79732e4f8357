/* commit_points: where the blocks of a model commit, for who writes it out for another checker. */
#ifndef INTACT_CHECK_COMMIT_POINTS_H
#define INTACT_CHECK_COMMIT_POINTS_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/ir.h"

struct commit_points {
	uint8_t *edge;    /* by successor (ir.succs): 1, the block commits on the way to it */
	bool *at_entry;   /* by block */
	const char *none; /* why none were found: blocks without `commit;` commit as they leave; NULL: found */
};

/* Is there a block whose commit point the source does not say? */
bool commit_points_unmarked(const struct ir *p);
/* Looks for them with a few threads of each template: the other checker judges whether they fit the rest. False: out of memory. */
bool commit_points_find(const struct ir *p, struct commit_points *out);
/* The same for one block of a program with its marks only (lang_load_again), or VERDICT_PROGRAM. */
bool commit_points_hint(const struct ir *p, uint32_t block, struct commit_points *out);
void commit_points_free(struct commit_points *c);

#endif
