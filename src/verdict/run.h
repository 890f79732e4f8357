/*
 * run: an interleaving as data.
 *
 * A run is what happens when threads take steps in a given order from the
 * initial state: a list of steps, each with its thread, its nondeterministic
 * picks and everything it did (accesses with values, changes, block
 * boundaries, operations, a fault). Simulations and counterexamples of every
 * engine are runs; renderers see nothing else.
 *
 *     struct run r;
 *     run_init(&r, ir);
 *     while (... run_step(&r, thread, picks, npicks) == RUN_OK ...)
 *     for (i = 0; i < r.nsteps; i++) ... r.steps[i] ... run_state(&r, i) ...
 *     run_free(&r);
 *
 * A schedule is a list of (thread, picks). The picks are those of
 * struct ir_choices: which alternative was taken at each choice the step met,
 * from 0. A step without a choice has none; one with choices needs all.
 * The same schedule gives the same run, always.
 *
 * Representation: steps hold ranges of the shared arrays below (32-bit
 * offsets). States are kept every `stride` steps only; the rest is stepped
 * again when asked for. When the kept ones outgrow RUN_STATE_BUDGET every
 * other one is dropped and the stride doubles, so memory is bounded by the
 * budget and about 100 bytes per step. Walking the states in order costs one
 * step each; undo costs a copy, or at most `stride` steps when repeated.
 *
 * A fault ends the run: it is the last step, its changes are those made before
 * it went wrong, and the state after it is the one before it.
 */
#ifndef INTACT_VERDICT_RUN_H
#define INTACT_VERDICT_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "ir/ir.h"

#define RUN_STATE_BUDGET ((size_t)64 << 20)
#define RUN_MAX_STEPS    100000000u

struct run_change { /* a shared variable's value before and after a step */
	uint32_t var, elem;
	int32_t before, after;
};

struct run_local {            /* a named local that a step gave a value, or whose value its
                    * picks decided */
	uint32_t local, elem; /* into ir.locals */
	int32_t value;
};

struct run_step {
	uint32_t thread;
	uint32_t node, next;                 /* where the thread was, where it went */
	uint32_t pick, npick;                /* into run.picks */
	uint32_t event, nevent;              /* into run.events, in order */
	uint32_t change, nchange;            /* into run.changes, by variable */
	uint32_t local, nlocal;              /* into run.locals */
	uint32_t entered, exited, committed; /* block ids or IR_NONE */
	uint32_t invoked, responded;         /* ir_oper ids or IR_NONE */
	int32_t arg, result;
	enum ir_fault fault; /* IRF_NONE unless it is the last step */
	uint32_t fault_ins;
	int32_t fault_value;
	bool stuck; /* the thread will never move again */
	bool cut;   /* more events than IR_MAX_EVENTS */
};

struct run {
	const struct ir *ir;
	struct run_step *steps;
	uint32_t nsteps, steps_cap;
	uint32_t *picks;
	uint32_t npicks, picks_cap;
	struct ir_event *events;
	uint32_t nevents, events_cap;
	struct run_change *changes;
	uint32_t nchanges, changes_cap;
	struct run_local *locals;
	uint32_t nlocals, locals_cap;
	/* private */
	int32_t *now, *prev; /* the state after the last step, before it */
	bool has_prev;
	int32_t *cursor; /* the state before step cursor_at */
	uint32_t cursor_at;
	int32_t *spare, *alt;
	int32_t *kept; /* kept[k] is the state before step k * stride */
	uint32_t nkept, kept_cap, stride;
	size_t budget;
	struct ir_event *room; /* IR_MAX_EVENTS */
	uint32_t *order;       /* nthreads, for run_random */
};

enum run_status {
	RUN_OK,        /* the step was taken */
	RUN_FAULT,     /* it was taken and went wrong: the run is over */
	RUN_OVER,      /* refused: the run ended with a fault */
	RUN_NO_THREAD, /* refused: there is no such thread */
	RUN_FINISHED,  /* refused: the thread has finished */
	RUN_STUCK,     /* refused: the thread waits forever (IRN_STUCK) */
	RUN_BLOCKED,   /* refused: the thread cannot move now */
	RUN_PICKS,     /* refused: the step has choices that are not picked */
	RUN_NO_PICK,   /* refused: a pick is out of range or one too many */
	RUN_FORBIDDEN, /* refused: the picks lead where an assume forbids */
	RUN_MEMORY,    /* refused: memory (or RUN_MAX_STEPS) is used up */
};

/* False when there is not enough memory; run_free is due in any case. */
bool run_init(struct run *r, const struct ir *p);
void run_free(struct run *r);

/* One step of `thread` (from 0). On a refusal nothing changes. */
enum run_status run_step(struct run *r, uint32_t thread, const uint32_t *picks, uint32_t npicks);
/* Takes the last step back; false if there is none. */
bool run_undo(struct run *r);
/* Back to the first n steps, at the cost of at most `stride` steps. */
void run_rewind(struct run *r, uint32_t n);
/*
 * One step of a thread that can move, and picks, drawn uniformly (alternative
 * by alternative). RUN_BLOCKED: no thread can move.
 */
enum run_status run_random(struct run *r, struct rng *rng);

/* The state before step i (0 .. nsteps; nsteps: the present one). Valid until
 * the next call of a run_ function; NULL when i is too large. */
const int32_t *run_state(struct run *r, uint32_t i);
static inline const int32_t *run_now(const struct run *r)
{
	return r->now;
}
static inline bool run_faulted(const struct run *r)
{
	return r->nsteps && r->steps[r->nsteps - 1].fault != IRF_NONE;
}

/*
 * The outcomes a step of `thread` has now, at most `max` of them into `out`,
 * in the order of their picks. Returns how many it looked at (max + 1 means:
 * there are more); 0 when the thread cannot move.
 */
struct run_outcome {
	uint32_t npick;
	uint32_t pick[IR_MAX_CHOICES];
	enum ir_result result; /* IR_OK or IR_FAULT */
};
uint32_t run_outcomes(struct run *r, uint32_t thread, struct run_outcome *out, uint32_t max);
bool run_enabled(struct run *r, uint32_t thread);

/* The thread that holds a lock now, or IR_NONE. */
uint32_t run_holder(const struct run *r, uint32_t var, uint32_t elem);

/* The effect of the faulting step, as ir_print_fault wants it. */
struct ir_effect run_fault(const struct run *r);

#endif
