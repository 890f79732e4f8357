/*
 * views: what `--memory=c11` keeps of a run: see views.c. Indices are into the tables of struct x_views; 0 is none.
 */
#ifndef INTACT_RUNTIME_EXPLORE_VIEWS_H
#define INTACT_RUNTIME_EXPLORE_VIEWS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	X_LOCATIONS = 1 << 13, /* of atomics, a run */
	X_LOCATION_HASH = 1 << 14,
	X_MESSAGES = 1 << 17,  /* stores, a run */
	X_SEEN_BY = 1 << 18,   /* loads that are kept, a run */
	X_SC_FENCES = 1 << 12, /* a run */
	X_SC_BOUNDS = 1 << 20, /* of all fences */
	X_VISIBLE = 64,        /* stores that an access chooses from */
};

/* A store. */
struct x_message {
	uint64_t value;
	uint64_t order;        /* in its location: later in modification order is greater */
	uint32_t older, newer; /* its neighbours there */
	uint32_t epoch;        /* of its thread's clock; a base has no thread: all know it */
	uint32_t nclock;       /* what is known to those who acquire from it */
	uint32_t *clock;
	uint32_t seen; /* loads that read it */
	uint16_t thread;
	bool updated; /* a read-modify-write read it: nothing comes between */
};

/* A load of a message: those that know it read no older one. */
struct x_seen_by {
	uint32_t epoch, next;
	uint16_t thread;
};

/* The bytes of an atomic. */
struct x_location {
	uintptr_t at;
	uint32_t size;
	uint32_t newest; /* 0: its history was forgotten */
	uint32_t sc;     /* seq_cst accesses see this or a newer one */
	uint32_t fence;  /* a thread does behind the next seq_cst fence */
};

/* A seq_cst fence: bounds[l] of each location there was: what is after it in happens-before sees that or a newer one. */
struct x_sc_fence {
	uint32_t epoch, bounds, n;
	uint16_t thread;
};

struct x_views {
	uint32_t run; /* what the tables are of */
	uint32_t nlocations, nmessages, nseen, nfences, nbounds;
	bool seq_cst; /* of the access that comes: it is a step that seq_cst fences depend on */
	/* the access that is being made */
	uint32_t location, chosen; /* location 0: it is not in the tables */
	struct {
		uintptr_t at, pc; /* what the thread has read last */
		uint64_t value;
		uint64_t expected; /* by the compare-and-swap that comes */
		uint32_t updates;  /* read-modify-writes of the same place and address without another atomic between */
	} last[256];
	/* of an object test: returns so far, and for each call those that happened before it */
	struct {
		uint32_t epoch;
		uint16_t thread;
		bool returned;
		uint64_t before;
	} call[64];
	uint32_t hash[X_LOCATION_HASH];
	struct x_location at[X_LOCATIONS];
	struct x_message message[X_MESSAGES];
	struct x_seen_by seen[X_SEEN_BY];
	struct x_sc_fence sc_fence[X_SC_FENCES];
	uint32_t bounds[X_SC_BOUNDS];
};

#endif
