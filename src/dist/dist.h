/*
 * dist: exchange of states and work between processes (ranks) that run the same program.
 *
 * A rank puts messages for other ranks, takes those that have arrived, and ends a phase: dist_end tells every other rank
 * that nothing more comes, and once dist_ended says that all others have said so, and nothing is left to take, the phase is
 * over for this rank. dist_sum closes it: a rank's next phase begins only when all have closed this one, so no message is
 * taken in a phase other than the one it was put in.
 *
 *   put ... put            any time within the phase; never waits
 *   take ... take          while working, and until dist_ended
 *   dist_end, dist_sum     once a phase each
 *
 * Messages of one rank to another arrive in the order in which they were put. The first byte of a message is its kind, the
 * caller's; DIST_END is dist's own.
 *
 * There are two implementations of struct dist_ops: threads of one process (dist_threads.h), the twin for tests, and MPI
 * (dist_mpi.c), a module that is loaded when the process was started by an MPI launcher (dist_open.h). No function waits
 * with a busy processor: see dist_pause.
 *
 * A struct dist is used by one thread at a time. When something went wrong (a rank is lost, memory has ended) it is
 * `broken`: everything returns false from then on, and `why` has the reason.
 */
#ifndef INTACT_DIST_DIST_H
#define INTACT_DIST_DIST_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/buf.h"

#define DIST_END 0u /* the kind of the message that ends a phase */

struct dist;

struct dist_ops {
	/* The bytes, malloc'ed, go to the rank and are freed; false: trouble. */
	bool (*put)(struct dist *d, uint32_t to, unsigned char *bytes, size_t n);
	/* The message that arrived next, malloc'ed. False: there is none at present, or trouble. */
	bool (*take)(struct dist *d, uint32_t *from, unsigned char **bytes, size_t *n);
	/* Each number becomes the sum of all ranks' numbers. Every rank calls it. */
	bool (*sum)(struct dist *d, uint64_t *v, uint32_t n);
	/* The bytes of all ranks one after the other, malloc'ed, and how many each has. Every rank calls it. */
	bool (*gather)(struct dist *d, const void *mine, size_t n, unsigned char **all, uint64_t *lengths);
	/* Bytes that were put and have not left yet. */
	uint64_t (*waiting)(const struct dist *d);
	/* Every rank calls it. When it is broken nothing is closed: the process is to end. */
	void (*close)(struct dist *d);
};

struct dist {
	uint32_t rank, n;
	uint32_t here; /* ranks on this machine */
	const struct dist_ops *ops;
	void *state;
	uint32_t ends; /* ranks whose phase has ended */
	bool broken;
	struct why why;
	char name[100]; /* of the library, for the user */
	uint64_t sent_bytes, sent_messages;
};

/* One message: takes the bytes, whatever happens. */
bool dist_put(struct dist *d, uint32_t to, unsigned char *bytes, size_t n);
/* The next message that is not an end of a phase; the bytes are the caller's. */
bool dist_take(struct dist *d, uint32_t *from, unsigned char **bytes, size_t *n);
/* Nothing more comes from this rank in this phase. */
bool dist_end(struct dist *d);
/* Has every other rank said so? Then nothing is on its way to this one. */
static inline bool dist_ended(const struct dist *d)
{
	return d->ends == d->n - 1;
}
/* Closes the phase, when dist_end was called and dist_ended is true; or before the first one. */
bool dist_sum(struct dist *d, uint64_t *v, uint32_t n);
bool dist_gather(struct dist *d, const void *mine, size_t n, unsigned char **all, uint64_t *lengths);
/* Says why it is of no use any more; returns false. */
bool dist_fail(struct dist *d, const char *why);
void dist_close(struct dist *d);

/* For a rank that waits: another process gets the processor; the longer it lasts, the longer this one sleeps (20 us to
 * 5 ms). *idle is 0 at first. */
static inline void dist_pause(uint32_t *idle)
{
	if (++*idle < 4) { /* on a busy machine a yield lasts for a slice of each other process, a short sleep does not */
		sched_yield();
		return;
	}
	uint32_t step = (*idle - 4) / 16;
	long us = step < 8 ? 20L << step : 5000;
	nanosleep(&(struct timespec){ 0, us * 1000 }, NULL);
}

#endif
