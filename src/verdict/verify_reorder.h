/*
 * verify_reorder: is this a reordering the program could have run?
 *
 * Given a stretch of a trace and some of its events in another order, checks
 * that each thread runs a prefix of what it ran, in its own order; that every
 * read gets its value from the same write as before, except a read that is
 * its thread's last event; that locks are held by one thread at a time; that
 * a thread runs after its fork and is joined after all it ran. Of a lock that is
 * taken again (EVENT_INNER) the thread must be the holder. Then nothing
 * the threads can see differs until their last events, so a program that made
 * the one could have made the other. Shares nothing with the search that
 * finds reorderings.
 */
#ifndef INTACT_VERDICT_VERIFY_REORDER_H
#define INTACT_VERDICT_VERIFY_REORDER_H

#include <stddef.h>
#include <stdint.h>

#include "event/event.h"

/*
 * `ev` are n events in recorded order; `held` says for each lock (nlocks of
 * them) which thread + 1 holds it before the first one (0: none). `order` are
 * k places in ev. NULL when feasible, else what is wrong.
 */
const char *verify_reorder(const struct event *ev, size_t n, const uint32_t *held, size_t nlocks, const uint32_t *order, size_t k);

#endif
