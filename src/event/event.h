/*
 * event: one step of a recorded execution, the record every dynamic analysis
 * reads, whatever file or program it came from.
 *
 * Threads, variables, locks, labels are dense 32-bit ids in name spaces of their
 * own (names.h). A place (`loc`) is a small number as in the file, or a text from
 * the table of places.
 *
 * The flag EVENT_INNER is set by order.c, not by the readers: the event only
 * repeats what holds already (a begin inside a block, the acquire of a lock
 * the thread holds, and what undoes them). Analyses skip such events.
 *
 * EVENT_FIRST is set by the reader of a recording (trace_lives): the variable or
 * lock is a new one from here on. Memory was freed and reused, and accesses to
 * the old memory do not conflict with this.
 *
 * EVENT_OWN is set by it, too (LEAVE_FLAGGED, translate.h): one thread alone uses
 * the variable. Its number, from EVENT_OWN_IDS on, is not in NS_VAR: no name.
 */
#ifndef INTACT_EVENT_EVENT_H
#define INTACT_EVENT_EVENT_H

#include <stdint.h>

/* Stable numbers: they are stored in trace files. 8 to 15 are reserved. */
enum event_kind {
	EVENT_READ = 0,
	EVENT_WRITE = 1,
	EVENT_ACQ = 2,
	EVENT_REL = 3,
	EVENT_FORK = 4,
	EVENT_JOIN = 5,
	EVENT_BEGIN = 6,
	EVENT_END = 7,
	EVENT_KINDS = 8,
};

enum { EVENT_INNER = 1, EVENT_FIRST = 2, EVENT_OWN = 4 };

struct event {
	uint64_t index; /* place in the trace, from 1 */
	uint64_t line;  /* of the text it came from; 0 when it was binary */
	uint32_t thread;
	uint32_t target; /* variable, lock, thread, or label (0: none) by kind */
	uint32_t loc;    /* LOC_NONE, a number, or LOC_TEXT | id */
	uint8_t kind, flags;
};

#define EVENT_OWN_IDS (UINT32_C(1) << 31)
#define LOC_TEXT      UINT32_C(0x80000000)
#define LOC_NONE      UINT32_MAX

static inline int event_is_access(const struct event *e)
{
	return e->kind <= EVENT_WRITE;
}

/* "r", "w", "acq", ... as STD writes them. */
extern const char *const event_kind_name[EVENT_KINDS];

#endif
