/*
 * read_guide: which states of an append-only text or list can still lead anywhere.
 *
 * Without a guide the search tries every order of concurrent appends. But a
 * read that comes later will see what was appended before, in order: as long
 * as some completed read is still to be invoked, the present content must be
 * a beginning of what that read returned. Of the reads still to come the one
 * with the longest answer is asked. A write starts the content afresh: only
 * reads that return before the next write is invoked are asked, and nothing
 * is while a write is open that has not taken effect. Sound: a state it rejects has no way to
 * complete the history. Hashes are compared, so a rare collision only means
 * that a hopeless state is searched.
 */
#ifndef INTACT_LIN_READ_GUIDE_H
#define INTACT_LIN_READ_GUIDE_H

#include "lin/lin.h"
#include "history/spec.h"

struct read_guide {
	const struct problem *p;
	uint32_t *longest;    /* by operation: the longest read from it on */
	uint32_t *until;      /* by operation: when the next write is invoked */
	uint64_t **hashes;    /* by operation: of the beginnings of its answer */
	uint64_t *state_hash; /* lists: by state, content hash; 0 unknown */
	uint32_t *state_len, nstates;
	bool on, text;
};

void read_guide_open(struct read_guide *g, const struct problem *p);
void read_guide_close(struct read_guide *g);
/* May the history be completed from `state` when the operations from number
 * `from` on are not yet invoked? */
bool read_guide_allows(struct read_guide *g, const struct spec_ctx *c, uint32_t state, uint32_t from);
/* The same for one read that has not taken effect. */
bool read_guide_allows_read(struct read_guide *g, const struct spec_ctx *c, uint32_t state, uint32_t read, uint32_t from);

#endif
