/*
 * translate: the records of a program (record.h) as events (event.h), for the
 * analyses that know nothing of programs.
 *
 *   accesses           r and w of variables (below)
 *   locks              acq and rel; reader-writer locks: the writer acq and
 *                      rel, and both sides access a variable of the lock's
 *                      (a reader reads it, a writer writes it), which orders
 *                      them as the lock does
 *   create, join       fork and join
 *   marked blocks      begin and end
 *   place              the stack, innermost first
 * What orders threads without being data, lock or thread (conditions,
 * barriers, semaphores) is no conflict and has no event.
 *
 * Variables are bytes that are only ever used together: an access to eight bytes
 * of which some are also used alone is one event for each such part. So the
 * records are looked at twice: translate_look for all of them, then translate_put.
 * Freed memory contains new variables: `lives` says how they are distinguished
 * from the old ones.
 *
 * What is left out. Most memory is accessed by one thread only, from its
 * allocation to its release. Such an access is its thread's own: it conflicts with
 * nothing, so it ends no link (serial.c) and opens none; no event of a lock, a
 * block or a thread refers to it. The first pass determines which they are, and
 * with LEAVE_OWN they are counted and not emitted: events keep their numbers, and
 * the variables need no ids, no names and no room in an analysis. Data that one
 * thread hands over to another, by fork, join or a lock, is used by two threads
 * and emitted. Also emitted, because a cycle can name them though they conflict
 * with nothing:
 *   - the first event of a thread: a fork is linked to it, and order_check learns
 *     that the thread is there;
 *   - the last access of a thread before another waits for it: a join is linked
 *     to it when it is the thread's last event;
 *   - all that a thread does after that: order_check has something to say.
 * So the events that are linked, in their order, are the same, whatever is left
 * out; the clocks' serials are given to links alone, so every cycle is found where
 * it was: the same block is violated by the same event. With LEAVE_OWN another of several
 * cycles that an event closes may be told, rarely (16 of 200,000 random recordings): which of a
 * variable's readers is looked at first depends on reads that are left out. Where the recording holds no block at all there is
 * no cycle to find, and every access is left out but those named. LEAVE_OWN leaves
 * out more: whatever is accessed while no thread is in a block. A cycle consists
 * of transactions that a block reaches while it is open (serial.c: finished ones
 * gain no links, and a thread that is reached continues with a new serial), so
 * what happened, or is still remembered of a variable, at a moment without an open
 * block is reached by none, then or later: a link from it is dismissed, whether
 * the variable remembers this access or an older one.
 *
 * That holds for the clocks. The transaction graph looks for the shortest path and
 * counts steps in a thread, so its result depends on all events: LEAVE_BLOCKLESS.
 * Of the two that predict, the reduction asks of a thread's own data only whether
 * a section has written anything (to it the accesses are both-movers), and the
 * reordering counts what is between two accesses and puts it into its witness, but
 * needs to distinguish variables only in its window. So these accesses are passed
 * to them, flagged, with numbers that have no names: LEAVE_FLAGGED. Cells of the
 * accesses listed above count as used by several, so no cycle names such a number.
 *
 * Only events of the process of the records are translated. Memory: the first
 * reading half a byte for each byte of the pages the program touched; the second
 * up to half a byte more where variables are translated, 4 bytes for each byte
 * that is used alone and with others, 16 a variable for its name; 64 a stack.
 */
#ifndef INTACT_EVENT_TRANSLATE_H
#define INTACT_EVENT_TRANSLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/symtab.h"
#include "event/event.h"
#include "event/names.h"
#include "event/record.h"

struct translate;

/* Variables and locks in memory that was used before: */
enum lives {
	LIVES_NAMED,  /* ids and names of their own (0x5600#2): for files */
	LIVES_APART,  /* ids of their own */
	LIVES_REUSED, /* the old one's id, EVENT_FIRST on their first event: memory
	                 follows the addresses used, not how often */
};

/* Accesses that are counted and not told. */
enum leave {
	LEAVE_NOTHING,
	LEAVE_BLOCKLESS, /* all that can be, when there are no blocks; else none */
	LEAVE_OWN,       /* also those to what one thread alone uses */
	LEAVE_FLAGGED,   /* as LEAVE_BLOCKLESS, and those are passed with
	                    * EVENT_OWN; not with LIVES_REUSED */
};

struct translate *translate_new(struct trace_names *names, enum lives lives);
void translate_free(struct translate *t);
bool translate_look(struct translate *t, const struct rec *rec, size_t n);
/* Names for addresses; kept by the caller. */
void translate_symbols(struct translate *t, const struct symtab *s);
/*
 * The events of n records, owned by t until the next call; *count of them.
 * NULL: out of memory.
 */
struct event *translate_put(struct translate *t, const struct rec *rec, size_t n, size_t *count);
/* The same, up to `max` events or few more: of the first *used records. */
struct event *translate_some(struct translate *t, const struct rec *rec, size_t n, size_t max, size_t *used, size_t *count);
/* Before the first event; and events so far, those left out included. */
void translate_leave(struct translate *t, enum leave leave);
uint64_t translate_index(const struct translate *t);

#endif
