/*
 * table: an interleaving as a table, one column per thread.
 *
 *     step  1: worker 1       2: worker 2       line  changes
 *        1  ┌ increment                           29
 *        2  │ acquire m                           16  m: free → held
 *        3  │                 ┌ increment          29
 *
 * Steps run from top to bottom. A thread inside a block has a bar in its
 * column as long as it is inside, so that what others do in the middle of a
 * block is seen at once. Threads that take no step get no column.
 *
 * Widths: each column wants its longest text; when the sum is too wide the
 * widest give way first (all flexible columns are cut to one common bound),
 * then columns are headed by their numbers with the names listed above, then
 * they hold a mark only and the words are beside them, and when there is no
 * room for that either, each row just names its thread. Cost: linear in the
 * rows shown times the columns, plus the length of the run.
 */
#ifndef INTACT_REPORT_TABLE_H
#define INTACT_REPORT_TABLE_H

#include <stdbool.h>

#include "base/buf.h"
#include "verdict/run.h"

struct table_options {
	unsigned width; /* columns of the page; 0: as wide as it gets */
	bool utf8, color;
	bool list;         /* one row a step, the thread named in it */
	uint32_t max_rows; /* steps shown, the middle is left out; 0: all */
	const char *full;  /* what shows all of them ("--full"), or NULL */
	/* One more column on the right, for what a verdict adds to the steps
	 * (the serial order's values): one text per step, NULL entries
	 * allowed. */
	const char *note_title;
	const char *const *notes;
	const bool *marks; /* steps to emphasise, or NULL */
};

void table_render(const struct run *r, const struct table_options *o, struct buf *out);

#endif
