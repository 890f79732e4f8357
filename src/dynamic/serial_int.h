/*
 * serial_int: what the parts of the clock algorithm share (serial.c explains
 * it; serial_rows.c has the clocks, serial_link.c what a link changes in them,
 * serial_why.c the paths and reports).
 */
#ifndef INTACT_DYNAMIC_SERIAL_INT_H
#define INTACT_DYNAMIC_SERIAL_INT_H

#include "base/grow.h"
#include "base/map.h"
#include "dynamic/serial.h"

#define SERIAL_INF        UINT32_MAX
#define SERIAL_NONE       UINT32_MAX
#define WHY_MAX           4096 /* links of one path */
#define SERIAL_INNER_MAX  64   /* nested begins remembered for a block */
#define READERS_LIST      16   /* readers looked through; more are looked up */
#define SERIAL_BLOCKS_MAX (UINT32_MAX - 2)

/* One remembered event: who did it last. 32 bytes, two to a cache line. */
struct serial_access {
	uint64_t event; /* 0: none */
	uint32_t thread, serial;
	uint32_t loc;
	uint32_t block; /* record of its block, 0: outside */
	uint32_t next;  /* readers: index into `more`, 0 = last */
	uint32_t var;   /* readers in `more`: of which variable; in a variable's
	                    write: how many readers it has there */
};

/* Last write, and the reads since then, one a thread: the first here, the
 * others in `more`, and found through the map `readers` once they are many. */
struct serial_var {
	struct serial_access w, r;
};

struct serial_block {
	uint64_t event; /* its begin */
	uint32_t loc, label;
	uint32_t next_free;
	bool mark;
};

struct serial_inner {
	uint64_t event;
	uint32_t loc, label;
};

struct serial_thread {
	uint32_t serial;
	uint32_t slot;  /* of the open block, SERIAL_NONE */
	uint32_t block; /* its record */
	uint32_t last_block, last_loc, last_target;
	uint64_t last; /* event, 0: none yet */
	uint32_t last_kind;
	uint32_t ninner; /* nested begins, may exceed SERIAL_INNER_MAX */
	struct serial_inner *inner;
	struct serial_access forked; /* the fork not yet linked to the first event */
};

/* A column of E: an open block. */
struct serial_slot {
	uint32_t thread, serial;
	bool found;                 /* its violation has been reported */
	struct serial_reach *reach; /* threads u with E[u][slot] < SERIAL_INF */
	uint32_t n, cap;
	uint32_t stamp, at;
};

/* One of them: its entry is rows[thread].e[at], with the same serial; `path`:
 * it is not the block itself. */
struct serial_reach {
	uint32_t thread, at, serial;
	bool path;
};

struct serial_why {
	uint32_t refs, len;   /* len 0: lost */
	uint32_t left, right; /* link: left is the path before; cat: both */
	uint32_t link;        /* the link at the path's end; cat: 0 */
};

/* A link is shared by all the paths it ends. */
struct shared_link {
	struct cycle_link link;
	uint32_t refs; /* free ones: the next free */
};

/* E[t][slot], below SERIAL_INF, and the path to it; slots[slot].reach[back] is its
 * other side. */
struct serial_entry {
	uint32_t slot, serial, why, back;
};

struct serial_row {
	struct serial_entry *e; /* in no order */
	uint32_t n, cap;
	uint32_t min; /* a lower bound of the serials; SERIAL_INF when empty */
};

struct serial {
	struct serial_opts o;
	enum serial_end end;
	struct serial_var *vars;
	struct serial_access *locks;
	struct serial_thread *threads;
	struct serial_row *rows; /* by thread */
	uint32_t nvars, nlocks, nthreads;
	struct serial_access *more; /* readers beyond the first; [0] unused */
	uint32_t nmore, more_cap, more_free;
	struct map readers; /* (variable, thread) -> index into `more`; stale
* ones are recognised by what is there */
	struct serial_slot *slots;
	uint32_t nslots, slots_cap, *free_slots, nfree_slots;
	struct serial_block *blocks; /* [0] unused */
	uint32_t nblocks, blocks_cap, blocks_free, blocks_live;
	struct serial_why *whys;             /* [0] unused */
	uint32_t nwhys, whys_cap, whys_free; /* free ones chained by `left` */
	struct shared_link *links;           /* [0] unused */
	uint32_t nlinks, links_cap, links_free;
	uint32_t *stack; /* for walking whys */
	uint32_t stack_cap;
	struct serial_entry *fresh; /* of the link at hand: who gains a path by it */
	uint32_t fresh_cap;
	struct serial_mark {
		uint32_t stamp, at, serial;
	} * marks; /* by thread: its position in the current column */
	uint32_t nmarks, stamp;
	struct grow_budget memory;
	struct serial_stats st;
	uint64_t entries;
};

/* Makes element `want` of an array exist, zero when it is new; or the analysis ends for want of memory. */
#define SERIAL_ROOM_AS(how, s, p, n, want) (GROW_AS(how, &(s)->memory, p, n, (want) + 1ull, 1) || ((s)->end = SERIAL_NOMEM, false))
#define SERIAL_ROOM(s, p, n, want)         SERIAL_ROOM_AS(GROW_ZERO, s, p, n, want)

/* ---- serial_why.c ------------------------------------------------------- */

/* A link with one reference, the caller's; 0 when out of memory. */
uint32_t why_link_new(struct serial *s, const struct cycle_link *link);
void why_link_drop(struct serial *s, uint32_t id);
/* A path with one reference: `before` (0: none) and a link more; or `left`,
 * then `right`. They take references of their own. 0 when out of memory. */
uint32_t why_link(struct serial *s, uint32_t before, uint32_t link);
uint32_t why_cat(struct serial *s, uint32_t left, uint32_t right);
void why_drop(struct serial *s, uint32_t id);
/* Room to walk any path. */
bool why_stack(struct serial *s);
/* Block k has a path `why` to the source of `last`, which returns to it. */
void why_report(struct serial *s, uint32_t k, uint32_t why, const struct cycle_link *last);

/* ---- serial_link.c ------------------------------------------------------ */

/* The link a -> e may matter: its source is not dismissed by min. `kind` and
 * `target` are those of the event `a` remembers. */
void link_slow(struct serial *s, const struct serial_access *a, enum event_kind kind, uint32_t target, const struct event *e);

/* ---- serial_rows.c ------------------------------------------------------ */

/* A new stamp: no slot and no thread is marked with it. */
uint32_t reach_stamp(struct serial *s);
/* E[t][k] = serial, which was SERIAL_INF, reached by the path `why` (whose reference it
 * takes). */
void reach_add(struct serial *s, uint32_t t, uint32_t k, uint32_t serial, uint32_t why);
/* The clock of block k ends: E[.][k] = SERIAL_INF. */
void reach_end(struct serial *s, uint32_t k);
bool row_slots_grow(struct serial *s);
/* Thread t starts a new transaction: the next serial. */
void row_next_serial(struct serial *s, uint32_t t);

#endif
