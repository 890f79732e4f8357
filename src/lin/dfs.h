/*
 * dfs: the general search (Wing and Gong, with Lowe's memory of what failed),
 * as its parts see it: the search (dfs.c), its memory (dfs_memory.c) and who
 * drives it (search.c).
 *
 * Time passes event by event. A configuration is where we are in the history,
 * the state of the object, which of the operations open there have already
 * taken effect (one bit an open operation), and when the object was last
 * overwritten. Nothing is decided before it must be: only when an operation
 * returns that has not taken effect does the search choose what takes effect
 * now, it or another open one first.
 *
 * Reductions, each sound by exchange of steps:
 *  - an open operation that only observes (a read) takes effect at once when
 *    the present state allows it;
 *  - of several open operations that are equal, the one that returns first is
 *    used first, those that never answered last, oldest first;
 *  - operations that never answered are optional;
 *  - a write that was open when another write took effect may have happened
 *    just before that one, unseen: it is *hidden*, and from then on it is
 *    optional too. So no write needs to follow a write directly: the first
 *    one can be hidden. A read that was open then, too, may have seen a
 *    hidden write: that is decided when one of the two returns;
 *  - a configuration is covered by one in the same state that used fewer of
 *    the optional operations and has made more of the observations.
 *
 * A search may start in the middle ("loose"): with any state, every operation
 * open there optional and every observation open there made. What it finds
 * impossible is impossible in the whole history, whatever came before.
 */
#ifndef INTACT_LIN_DFS_H
#define INTACT_LIN_DFS_H

#include "base/invariant.h"
#include "lin/read_guide.h"
#include "lin/lin.h"
#include "history/spec.h"

struct dfs_frame {
	uint32_t at; /* event: a response whose operation has not taken effect */
	uint32_t state;
	uint32_t choice; /* next candidate */
	uint32_t nlin;   /* length of the order so far */
	uint32_t since;  /* when the object was last overwritten: before this event */
	uint32_t last;   /* by which operation; RANK_INF: never */
	bool fresh;      /* by the step that led here, at this event */
	bool hide_first; /* the operation that returns is better hidden */
};

struct dfs {
	const struct problem *p;
	struct spec_ctx ctx;
	struct read_guide guide;
	uint32_t *ev;
	uint32_t *slot;                    /* by operation: live ones 0.., crashed ones 0.. apart */
	uint32_t *cls;                     /* by operation: equal calls have equal numbers */
	uint32_t *occupant;                /* by live slot, at the present event; RANK_INF free */
	uint32_t *crashed;                 /* crashed operations in order of invocation */
	uint32_t *same;                    /* by crashed: an equal older one, or RANK_INF */
	uint32_t nlive, ncrashed, ncalled; /* crashed ones invoked by now */
	uint32_t lw, w;                    /* words of a mask: live, all */
	uint32_t from;                     /* loose start: this event; 0: the beginning */
	uint32_t to;                       /* events from here on do not count */
	bool overwrites;                   /* the object has writes that hide others */
	uint32_t pos;                      /* events before it have been passed */
	uint32_t ncalls;                   /* invocations among them */
	uint64_t *observer, *soft;         /* live slots whose occupant observes; may be hidden */
	struct dfs_frame *fr;              /* the stack, and the mask of each frame */
	uint64_t *masks;
	uint32_t nfr, cfr;
	uint32_t *lin, *anchor, nlin; /* the order; hidden ones precede their anchor */
	uint64_t *cur;                /* the mask being worked on */
	uint32_t since, last;         /* and its last overwriting */
	bool fresh;
	/* what was visited: entries of w + 3 words (dfs_memory.c) */
	uint64_t *seen;
	uint32_t nseen, cseen, *heads, nheads;
	uint32_t *starts, nstarts, next_start, bstarts; /* states to start from */
	uint32_t best;                                  /* the furthest response reached */
	bool collect;                                   /* every state at the end is wanted, not one order */
	uint32_t states[MAX_STATES_SHOWN], nstates;
	bool more_states;
	uint64_t steps;
	bool failed; /* out of memory */
};

enum dfs_answer { DFS_FOUND, DFS_NONE, DFS_MORE /* the steps are used up */, DFS_FAILED };

/* A search of the whole history; false when out of memory (close it nevertheless). */
bool dfs_open(struct dfs *d, const struct problem *p);
/* Between two events; from any of the states that matter there. The object
 * must be a register (dfs_can_start_anywhere). */
bool dfs_open_loose(struct dfs *d, const struct problem *p, uint32_t from, uint32_t to);
bool dfs_can_start_anywhere(const struct problem *p);
/* All states that the object may end in: after DFS_NONE they are in `states`. */
bool dfs_open_collect(struct dfs *d, const struct problem *p);
/* Goes on for some steps (0: to the end, or until a limit is reached). */
enum dfs_answer dfs_run(struct dfs *d, uint64_t steps);
/* DFS_FOUND: the order, into the result. False: memory. */
bool dfs_order(const struct dfs *d, struct result *r);
void dfs_close(struct dfs *d);

/* dfs_memory.c: false when the present configuration, or one that covers it,
 * was at this event before. */
bool dfs_remember(struct dfs *d, uint32_t state);

static inline bool mask_bit(const uint64_t *m, uint32_t i)
{
	assert(m);
	return m[i / 64] >> (i % 64) & 1;
}

static inline void mask_set(uint64_t *m, uint32_t i)
{
	m[i / 64] |= 1ull << (i % 64);
}

static inline void mask_clear(uint64_t *m, uint32_t i)
{
	m[i / 64] &= ~(1ull << (i % 64));
}

#endif
