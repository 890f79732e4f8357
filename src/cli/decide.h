/*
 * decide: which engines answer which question, in which order.
 *
 * A question is a block, or the program (all blocks at once). With no engine
 * asked for, commit-atomicity is tried first (it is the cheaper argument and
 * names the commit points); what it leaves open, exact atomicity decides.
 *
 * The program is asked about first. When all blocks together are
 * serializable, each of them is atomic as part of it, and nothing more is
 * asked. When they are not, each block is judged alone, with the other
 * blocks' marks ignored: that tells which of them is to blame. (Alone, a
 * block of a serializable program may fail: its neighbours, no longer
 * atomic, can be seen half-way.)
 */
#ifndef INTACT_CLI_DECIDE_H
#define INTACT_CLI_DECIDE_H

#include "explore/search.h"
#include "verdict/verdict.h"

enum decide_engine { ENGINE_AUTO, ENGINE_COMMIT, ENGINE_EXACT };

struct decide_options {
	enum decide_engine engine;
	struct search_options search;
};

/* Room for nblocks + 1 verdicts: the blocks in order, then the program. The
 * first asks about the program alone and leaves the blocks open unless that
 * answers them. */
void decide_program(const struct ir *p, const struct decide_options *o, struct verdict *v);
void decide_all(const struct ir *p, const struct decide_options *o, struct verdict *v);
void decide(const struct ir *p, uint32_t block, const struct decide_options *o, struct verdict *v);
/* Faults, failed assertions and (when asked for) deadlocks of the program. */
void decide_safety(const struct ir *p, const struct decide_options *o, struct verdict *v);

#endif
