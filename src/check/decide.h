/*
 * decide: the ladder. Which engines answer which question, in which order.
 *
 * A question is a block, or the program (all blocks at once). The rungs are the
 * engines of the table (engine.h), the cheapest argument first:
 *
 *   reduction  linear, for any number of threads; proves or does not know
 *   causal     the program with most data forgotten; proves, or suspects: what
 *              it finds is abstract, and the rungs above confirm or refute it
 *   commit     shadow store; names the commit points
 *   exact      every moment between entry and exit; decides what is left
 *
 * A question goes up until a rung proves it or finds a concrete run that no
 * serial order explains. All rungs of all questions share one budget: time,
 * states, and the memory of the search that is going on. The causal rung gets
 * a small piece of it at first (first_states of its row, so that it never costs much
 * beside the engine that decides), and what is left when the others have not
 * answered either. For --threads name=any it gets all of it at once: only
 * reduction and causal can answer that.
 *
 * The budget is divided so that no question eats what others need. Of a time
 * limit the program gets three quarters. Blocks are asked in rounds: in each
 * of them every block that is still open gets a slice, those of the program's
 * counterexample first, and the next slices are four times as large. Slices
 * are states, so that what is found does not depend on time; with a time
 * limit they are bounded by it too. What decides a block is one search, from
 * the start, within one slice: its numbers are those of that search.
 *
 * The program is asked about first. When all blocks together are serializable, each
 * of them is atomic as part of it, and nothing more is asked. When they are not,
 * each block is judged alone, with the other blocks' marks ignored: that shows which
 * of them is at fault. (Alone, a block of a serializable program may fail: its
 * neighbours, no longer atomic, can be seen half-way.) A block that a cheaper
 * argument proves is reported with that one.
 */
#ifndef INTACT_CHECK_DECIDE_H
#define INTACT_CHECK_DECIDE_H

#include "base/diag.h"
#include "explore/search.h"
#include "reduce/reduce.h"
#include "verdict/verdict.h"

struct check_engine;

struct decide_options {
	const struct check_engine *engine; /* this one alone; NULL: the ladder */
	struct search_options search;
	const char *const *track, *const *abstract; /* for causal: variables to keep, to forget */
	uint32_t ntrack, nabstract;
};

struct decide { /* one model, and the budget used for it */
	const struct ir *p;
	struct decide_options o;
	struct reduce_result reduce;
	double reduce_seconds;
	uint64_t states;         /* of all searches so far */
	struct slice {           /* what the question that is being asked may use of the budget; 0: all that is left */
		uint64_t states; /* until d->states is this */
		double deadline;
	} slice;
	struct move *suspect; /* a run that the causal engine suspects; malloc'ed or NULL */
	uint32_t nsuspect;
	uint64_t causal_states; /* of blocks asked about beside a program that holds */
	bool any;               /* some template was asked for with any number of threads */
	uint32_t *need;         /* by template: threads that some suspicion needs, where there are fewer; 0: none */
};

void decide_begin(struct decide *d, const struct ir *p, const struct decide_options *o);
void decide_end(struct decide *d);

/* Room for nblocks + 1 verdicts: the blocks in order, then the program. The
 * first asks about the program and leaves the blocks open unless that answers
 * them; the second asks about the blocks then. */
void decide_program(struct decide *d, struct verdict *v);
void decide_blocks(struct decide *d, struct verdict *v);
void decide_block(struct decide *d, uint32_t block, struct verdict *v);
/* Faults, failed assertions and (when asked for) deadlocks of the program. When that is not the main question, it gets
 * half of the time that is left and, without any limit, only so many states. */
void decide_safety(struct decide *d, bool main_question, struct verdict *v);

/* Every engine of the ladder is asked, `v` is what they say together. False when
 * one proves what another refutes: a bug. */
bool decide_by_all(struct decide *d, uint32_t block, struct verdict *v);

#endif
