/*
 * program: what a program does when most of its data is forgotten (Section 3
 * of the causal-atomicity paper), as tables that no longer mention code.
 *
 * Shared state is a set of *cells*: a lock, or an element of a shared variable
 * (a long array is one cell). A cell either keeps its value (locks, bool, enum,
 * ranges of at most PROGRAM_SMALL values, what --track names) or is abstract:
 * it has no value, a read of it gives anything.
 *
 * A template is a graph of *spots*: a node of the program with the values of
 * those frame slots that are kept (small locals; a slot that got its value from
 * an abstract cell is unknown there). An *action* leads from spot to spot and
 * has a list of *touches*: cell, read or write, the value it needs to find
 * (or ANY), the value it leaves. A cell is touched at most once by an action.
 *
 * The abstraction over-approximates: for every step that a concrete execution
 * takes without a fault there is an action from the spot of its thread (every
 * kept value agreeing) that touches the same cells in the same mode, finds and
 * leaves the same values, and ends in the spot of its successor. What is
 * unknown goes both ways; an unknown value that is stored into a cell that
 * keeps its value becomes each of its values in turn. Steps that fault have no
 * action: they end a run.
 *
 * Cost: a spot is interpreted once for each way its step can go.
 */
#ifndef INTACT_CAUSAL_PROGRAM_H
#define INTACT_CAUSAL_PROGRAM_H

#include "base/invariant.h"
#include "causal/colour.h"
#include "ir/ir.h"

#define PROGRAM_SMALL    4u   /* values of a variable or named local that is kept */
#define PROGRAM_TRACKED  256u /* values that --track can ask for */
#define PROGRAM_UNNAMED  64u  /* values of a register the source does not name */
#define PROGRAM_ELEMENTS 64u  /* of an array, each a cell of its own */
#define PROGRAM_ANY      UINT32_MAX

struct program_options {
	const char *const *track, *const *abstract; /* names of shared variables */
	uint32_t ntrack, nabstract;
	uint64_t max_bytes; /* 0: none */
	double deadline;    /* CLOCK_MONOTONIC seconds; 0: none */
};

struct program_cell {
	uint32_t var, elem; /* elem: IR_NONE when it is the whole array */
	uint32_t nvalues;   /* 0: abstract */
	int32_t lo;         /* value v of the cell represents lo + v */
	uint32_t init;      /* initial value, from 0 */
	bool lock;          /* values 0 (free) and 1 (held) */
};

struct touch {
	uint32_t cell;
	uint32_t need; /* value found, from 0; PROGRAM_ANY: any, or abstract */
	uint32_t put;  /* value left; PROGRAM_ANY when abstract or only read */
	bool write;
};

struct action {
	uint32_t from, to;        /* spots of one template */
	uint32_t touch, ntouch;   /* into touches, ascending cells */
	uint32_t entered, exited; /* blocks, or IR_NONE */
};

struct spot {
	uint32_t tmpl, node;
	uint32_t value;           /* into values: one a slot of the template's frame */
	uint32_t action, naction; /* those that leave it, into actions */
	bool end;                 /* IRN_END: the thread has finished */
};

struct kept { /* a frame slot's value in a spot */
	bool known;
	int32_t value;
};

struct program {
	const struct ir *ir;
	struct program_cell *cells;
	uint32_t ncells;
	uint32_t *cell_at; /* variable -> its first cell (elements follow) */
	bool *one_cell;    /* variable -> an array that is one cell */
	struct spot *spots;
	uint32_t nspots;
	struct kept *values;
	uint32_t nvalues;
	struct action *actions; /* sorted by `from` */
	uint32_t nactions;
	struct touch *touches;
	uint32_t ntouches;
	uint32_t *start; /* template -> the spot its threads begin in */
};

enum program_status {
	PROGRAM_OK,
	PROGRAM_INPUT, /* --track or --abstract names something it cannot: in diags */
	PROGRAM_LIMIT, /* too many spots, ways or bytes: `limit` */
};

/* Everything in `a`; on PROGRAM_LIMIT, *limit says which. */
enum program_status program_make(const struct ir *p, const struct program_options *o, struct arena *a, struct diags *d,
                                 struct program *out, const char **limit);

/* "data", "a[2]", "a" for a whole array. */
void program_cell_name(const struct program *g, uint32_t cell, struct buf *out);
/* The block a thread in this spot is inside of, or IR_NONE. */
static inline uint32_t program_block(const struct program *g, uint32_t spot)
{
	assert(spot < g->nspots);
	return g->ir->nodes[g->spots[spot].node].block;
}

/*
 * The net of the program for its threads (Fig. 4), or false: a limit (*limit).
 * A lock is a place that is marked while it is free; a cell that keeps its
 * value has a place for each value; an abstract one has one place. Threads
 * that only ever read a cell have such places to themselves, all others
 * share one set; a write takes all sets.
 *
 * `chosen`: threads (by number) whose blocks are looked at, `block`: only this
 * one, or IR_NONE for all of them. No thread: the plain net.
 */
bool program_net(const struct program *g, const uint32_t *chosen, uint32_t nchosen, uint32_t block, struct arena *a,
                 struct diags *d, struct colour_net *out, const char **limit);

#endif
