/*
 * recstate: what a recording that starts here has to say first.
 *
 * Follows the records of one process and keeps what later ones build on: its
 * options and modules, the threads, the functions, locks and blocks each of
 * them is in. As records of their own these come in front of a part of a
 * recording, which can then be read without the parts before it.
 */
#ifndef INTACT_EVENT_RECSTATE_H
#define INTACT_EVENT_RECSTATE_H

#include <stdbool.h>
#include <stddef.h>

#include "event/record.h"

struct recstate;

struct recstate *recstate_new(void);
void recstate_free(struct recstate *s);
/* False: out of memory. */
bool recstate_note(struct recstate *s, const struct rec *r, size_t n);
/* Hands the records over, a TEXT with its letters at once. */
typedef bool recstate_fn(void *ctx, const struct rec *r, size_t n);
bool recstate_tell(const struct recstate *s, recstate_fn *fn, void *ctx);

#endif
