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
 * Variables are bytes that are only ever used together: an access to eight
 * bytes of which some are also used alone is one event for each such part. So
 * the records are looked at twice: translate_look for all of them, then
 * translate_put. Memory that was given back holds new variables: `lives` says
 * how they are told from the old ones.
 *
 * Only the first process is told of. Memory: about 5 bytes for each byte that
 * was used more than once, 64 a stack.
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

#endif
