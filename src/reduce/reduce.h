/*
 * reduce: Lipton's reduction, the cheapest argument that a block is atomic.
 *
 * A block is reducible when every path through it is right-movers, at most one
 * non-mover, left-movers (mover.h says what is what). Then in every execution that
 * ends with the block finished, its right-movers can be moved to just before the
 * non-mover and its left-movers to just after it, over the neighbours of other
 * threads, without changing the end: the block takes effect at the moment of its
 * non-mover, between its entry and its exit, and nothing outside has been moved.
 * When all blocks of a program are reducible this works for all of them at once:
 * moving the steps of one block changes no order among the steps of the others,
 * and no step's kind.
 *
 * What is relied on: only executions that end in a quiescent state count, so every
 * instance of the block has reached its exit. A block that loops or waits forever,
 * before or after its non-mover, has no such execution, and Lipton's condition
 * that what follows the commit must be able to finish is not needed. Pure
 * repetitions inside a block in question (a failed compare-and-swap that leads
 * back to where it was) are removed from the execution first: they change no
 * state, and a serial run of the block need not make them. Those outside stay, so
 * a lock coded by hand that a step outside tries is no mover (flow.h): a block
 * alone and the same block as a part of the program are two questions. Faults and
 * assertions are another matter; where value_ranges.h can exclude them,
 * `fault_free` says so.
 *
 * The proof is for any number of threads of the templates that have more than
 * one; `any` says that it also is when the others have more than one.
 * Cost: linear in the program (sorting aside).
 */
#ifndef INTACT_REDUCE_H
#define INTACT_REDUCE_H

#include "reduce/mover.h"

struct reduce_block {
	bool reducible, any;    /* alone, the marks of the other blocks ignored */
	bool part, part_any;    /* with all blocks counting at once */
	uint32_t first, second; /* the steps that do not fit (nodes), else IR_NONE */
	char *why;              /* "second non-mover at 14:5 ..."; malloc'ed or NULL */
	char *part_why;
};

struct reduce_result {
	uint32_t nblocks;
	bool out_of_memory;          /* then nothing is reducible */
	bool fault_free;             /* no execution of any number of threads has a fault */
	bool all, all_any;           /* every block is, as a part; for any numbers */
	struct reduce_block *blocks; /* nblocks; malloc'ed */
	uint8_t *mover;              /* by node: enum reduce_mover, declared numbers; malloc'ed */
	uint8_t *hand;               /* by variable: HAND_*; malloc'ed */
	char *locks;                 /* which are coded by hand, a sentence; or NULL */
};

void reduce_run(const struct ir *p, struct reduce_result *r);
void reduce_result_free(struct reduce_result *r);

/* Why the two steps do not fit when the question is about `block` or FLOW_ALL,
 * as a sentence (misfit_text.c). */
void reduce_why(const struct flow *f, const struct movers *m, uint32_t block, uint32_t first, uint32_t second, struct buf *out);
/* The locks coded by hand, as a sentence; nothing if there are none. */
void reduce_say_locks(const struct flow *f, struct buf *out);

#endif
