/*
 * hazards: what is found that is not about a block: data races (races.h), and what is
 * wrong with locks (lock_order.h). A table beside that of findings.h, told in the same
 * messages (message.h).
 *
 * A hazard has a kind and parts: what a thread did, where, to what, holding which locks. It is
 * known by its places: a race by its two program counters, a cycle of locks by those at
 * which they were taken. Meeting it again counts. Entries are never removed; the table is
 * bounded, and what does not fit is counted (`lost`).
 */
#ifndef INTACT_DYNAMIC_HAZARDS_H
#define INTACT_DYNAMIC_HAZARDS_H

#include <stdbool.h>
#include <stdint.h>

#include "dynamic/races.h"
#include "event/finding.h"

struct message;

enum { HAZARD_MAX = 8192, HAZARD_PARTS = 32 };

struct hazard_part {
	uint64_t address; /* of the data, or the lock */
	uint32_t uid, stack, locks;
	uint32_t lock; /* 0: data */
	uint8_t size, op;
	uint8_t mask; /* of a race: the bytes of the cell that both touch; `address` and `size` are about these */
};

struct hazard {
	uint64_t key;
	struct hazard_part *parts;
	uint32_t nparts, count, told;
	uint8_t kind;
	bool sent;
};

struct hazards {
	struct hazard *list; /* 1 .. n - 1; NULL: nothing is asked for */
	uint16_t *slots;     /* by key */
	uint32_t n, lost;
	struct spin lock;
};

bool hazards_init(struct hazards *h);
void hazards_free(struct hazards *h);
/* In the child of a fork: what was found so far is the parent's. */
void hazards_forked(struct hazards *h);
/* One more, or one met again; the parts are copied. */
void hazard_add(struct dynamic *d, enum finding_kind kind, uint64_t key, const struct hazard_part *parts, uint32_t n);
/* Thread t makes the access `now`, and `before` was entered for the cell at `cell`. */
void hazard_race(struct dynamic *d, const struct thread *t, uintptr_t cell, const struct race_mark *before,
                 const struct race_mark *now);
/* The program counter innermost in a stack. */
uint64_t hazard_place(const struct dynamic *d, uint32_t stack);
/* Is there something to be told, at the end of the program (final) or now? */
bool hazards_fresh(const struct dynamic *d, bool final);
/* Writes them into a message: those that are new, with `all` the others, too. True: there were any. */
bool hazards_message(struct message *m, struct dynamic *d, bool all);
/* Code or data at lo to hi is `delta` away from now on. */
void hazards_move(struct dynamic *d, uintptr_t lo, uintptr_t hi, uintptr_t delta);

#endif
