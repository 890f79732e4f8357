/*
 * verify: the small independent checker.
 *
 * Shares nothing with the engines but ir/step (through run.h): it decides for
 * itself, by trying, whether some serial execution of the block instances and
 * outside steps of a run ends in the same state, in an order that a run with
 * the same causes and effects could have had: what ended causally before
 * something else began comes before it.
 */
#ifndef INTACT_VERDICT_VERIFY_H
#define INTACT_VERDICT_VERIFY_H

#include "base/seqtab.h"
#include "verdict/run.h"
#include "verdict/verdict.h"

enum verify_run_answer {
	VERIFY_EXPLAINED,   /* a serial order explains the run: no violation */
	VERIFY_UNEXPLAINED, /* none does */
	VERIFY_OPEN,        /* the run does not end quiescent: nothing follows */
	VERIFY_LIMIT,       /* too many orders, or no memory */
};

/* `block`: the one that counts, or VERDICT_PROGRAM. */
enum verify_run_answer verify_run(struct run *r, uint32_t block);
/* The same of the run that these moves make, with so many points at most; 0: as many as verify_run. */
#define VERIFY_LOOK 200000u /* for a look beside other things */
enum verify_run_answer verify_path(const struct ir *p, uint32_t block, const struct move *path, uint32_t n, uint64_t points);

/*
 * Whether, further, no serial order comes to an end at all, and only because
 * a block that runs alone waits (PROBLEM_STUCK) or loops forever
 * (PROBLEM_ENDLESS): VERIFY_UNEXPLAINED, else VERIFY_EXPLAINED.
 */
enum verify_run_answer verify_halt(struct run *r, uint32_t block, enum verdict_problem problem);

/*
 * The same, with what was met on the way. The states in which serial orders end (ir->nstate words each), all of them
 * when none explains the run; and where blocks are that do not finish alone: a thread, then a state in which its block
 * waits (PROBLEM_STUCK) or goes on (PROBLEM_ENDLESS).
 */
enum verify_run_answer verify_ends(struct run *r, uint32_t block, struct seqtab *ends);
enum verify_run_answer verify_halts(struct run *r, uint32_t block, enum verdict_problem problem, struct seqtab *halts);

/*
 * Whether nothing that can happen after the run leads to a state in which all
 * threads are outside their blocks: VERIFY_UNEXPLAINED, else
 * VERIFY_EXPLAINED. Visits every state after it, up to two million.
 */
enum verify_run_answer verify_quiescence(struct run *r);
/* The same of a condition on states: UNEXPLAINED when no state in which it holds can be reached from the end of the run. */
enum verify_run_answer verify_out_of_reach(struct run *r, uint32_t property);

#endif
