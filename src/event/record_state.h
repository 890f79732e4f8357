/*
 * record_state: what a recording that starts here has to say first.
 *
 * Follows the records of one process and keeps what later ones build on: its
 * options and modules, the threads, the functions, locks and blocks each of
 * them is in. As records of their own these come in front of a part of a
 * recording, which can then be read without the parts before it.
 */
#ifndef INTACT_EVENT_RECORD_STATE_H
#define INTACT_EVENT_RECORD_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "event/record.h"

struct record_state;

struct record_state *record_state_new(void);
void record_state_free(struct record_state *s);
/* False: out of memory. */
bool record_state_note(struct record_state *s, const struct rec *r, size_t n);
/* Hands the records over, a TEXT with its letters at once. */
typedef bool record_state_fn(void *ctx, const struct rec *r, size_t n);
bool record_state_tell(const struct record_state *s, record_state_fn *fn, void *ctx);

#endif
