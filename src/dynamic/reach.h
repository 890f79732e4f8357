/*
 * reach: does a marked block lie on a cycle of conflicts, while it runs?
 *
 * The method and its proof are those of serial.c (forward clocks): for every
 * open block the first transaction of each thread that it reaches by conflicts
 * and program order. A conflict from there back into the block closes a cycle:
 * no order that runs the block in one piece gives the same, and a finding on
 * the block is *confirmed*. What differs is what it is made of:
 *
 *   transactions  epochs of a thread (shadow.h). A thread that is reached
 *                 outside of blocks begins a new epoch, so that all of an epoch
 *                 is reached or none.
 *   columns       one for each open mark. The outermost are as in serial.c: to
 *                 others such a block is one transaction. A nested one is to
 *                 blame when it is at fault alone (docs/trace.md), so its
 *                 column has the paths on which every event of the others is a
 *                 transaction of its own.
 *   accesses      a table of the accesses made while some block was open: for
 *                 each byte the last write and the reads since. Older ones
 *                 cannot be reached by an open block. Locks are in it too:
 *                 taking and letting go are writes, of readers reads.
 *
 * Conflicts are those of docs/trace.md: data, locks, fork and join; what merely
 * orders threads (conditions, semaphores, barriers) is not a conflict. So the
 * verdict is the one that `intact trace` gives on the recording, except for
 * blocks that restart (reach_restart).
 *
 * While no marked block is open nothing is kept and nothing is asked: the cost
 * is one comparison of `open`. Otherwise every access that the fast path does
 * not settle takes one lock. The fast path stays right: what it settles is in
 * an epoch whose first access to these bytes is in the table, or came before
 * any open block and cannot be reached.
 *
 * When a table is full or memory has ended cycles are missed; none is ever
 * made up.
 */
#ifndef INTACT_DYNAMIC_REACH_H
#define INTACT_DYNAMIC_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dynamic/pages.h"

enum { REACH_COLUMNS = 512, REACH_THREADS = 1024, REACH_WHOLE = 1 << 30, REACH_READS = 1 << 29 };

#define REACH_LOCK (1ull << 63)

struct thread;

struct reach_column {
	uint32_t tid, begin; /* epoch it began with; tid 0: free */
	bool inner;          /* a nested block */
	uint32_t out;        /* stack where it was first left; 0: never */
	uint64_t out_at;     /* what it did it to, as in reach_cycle */
	uint8_t out_op;
};

struct reach_access {
	uint64_t cell; /* address / 8; of locks see reach.c */
	uint32_t next;
	uint32_t epoch, stack, uid;
	uint16_t tid;
	uint8_t mask; /* bytes; 0: free for this cell's next access */
	uint8_t op;
};

struct reach {
	uint32_t open;  /* columns in use: read without the lock */
	uint32_t whole; /* that, and REACH_WHOLE while all is recorded: then
	                            not even reads of shared constants are left out.
	                            REACH_READS: races ask for these reads (races.h) */
	struct spin spin;
	uint32_t ncolumns; /* those below may be in use */
	struct reach_column *column;
	uint32_t *first;             /* [column][thread]: epoch; UINT32_MAX: none */
	uint32_t *low;               /* by thread: not above any `first` of it */
	uint32_t nthreads;           /* slots below have been seen */
	uint64_t *heads;             /* generation << 32 | access */
	struct reach_access *access; /* [0] unused */
	uint32_t naccess, generation;
	bool failed; /* no memory for tables */
};

/* What closed a cycle. */
struct reach_cycle {
	uint32_t level;      /* 1 + the innermost mark on it; 0: there is none */
	uint32_t uid, stack; /* the other thread, its last step (0: unknown) */
	uint32_t out;        /* where the block was left: a stack, 0: unknown */
	uint64_t out_at;     /* address of the data, or REACH_LOCK | its id */
	uint8_t out_op, op;  /* enum finding_op: of `out`, of the other's step */
};

void reach_free(struct reach *r);
/* The newest mark of the thread is open from here on. */
void reach_open(struct thread *t);
/* Marks that are gone are open no longer. */
void reach_trim(struct thread *t);
/* These marks (a bit for each) begin here: what they did before is done again
 * (they waited on a condition, backed off, or looked again), or can as well be
 * done now. */
void reach_restart(struct thread *t, uint32_t marks);
/* Only the thread in slot `tid` lives on in this process. */
void reach_forked(struct reach *r, uint32_t tid);

/* The thread accesses data, or takes or releases a lock. True when that closed a cycle, which is in `out` then. */
bool reach_data(struct thread *t, uintptr_t addr, unsigned mask, uint8_t op, bool write, uint32_t stack, struct reach_cycle *out);
bool reach_lock(struct thread *t, uint32_t lock, uint32_t life, uint8_t op, bool write, uint32_t stack, struct reach_cycle *out);
/* A thread begins; parent NULL: none. */
void reach_begin(struct thread *parent, struct thread *child);
struct reach_cycle reach_join(struct thread *t, const struct thread *other);
/* This memory holds new variables from now on. */
void reach_forget(struct reach *r, uintptr_t addr, size_t size);

#endif
