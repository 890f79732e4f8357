/*
 * cover: how many intervals cover each gap between events.
 *
 * A segment tree over gaps 0..n-1 with "add to a range", "the first gap with
 * the least count" and "the first uncovered gap of a range". Each node holds
 * the least count below it without the pending additions of its ancestors.
 * O(log n) per call, 8 bytes per node.
 *
 * The containers' algorithms (queue, stack, priority queue) share it and the
 * items below: gap g follows the first g events, so an operation called at
 * rank c that returns at rank r can take effect in gaps c+1..r.
 */
#ifndef INTACT_LIN_COVER_H
#define INTACT_LIN_COVER_H

#include "lin/lin.h"

#define COVER_GONE (1 << 29)

struct cover {
	struct limits *lim;
	int32_t *min, *add;
	uint32_t size; /* leaves: a power of two */
	uint32_t n;
};

bool cover_open(struct cover *c, uint32_t n, struct limits *lim);
void cover_close(struct cover *c);
/* Builds from counts[0..n-1]. */
void cover_set(struct cover *c, const int32_t *counts);
void cover_add(struct cover *c, uint32_t lo, uint32_t hi, int32_t by); /* lo..hi */
/* The least count, and in *at the first gap that has it. */
int32_t cover_least(const struct cover *c, uint32_t *at);
/* The first gap of lo..hi with count 0, or RANK_INF. */
uint32_t cover_first_zero(const struct cover *c, uint32_t lo, uint32_t hi);

/* A value of a container: who put it in and who took it out. Gap ranges in
 * which each can take effect, after the obvious narrowing: it goes in before
 * it comes out. */
struct item {
	uint32_t in, out; /* operations; RANK_INF: never taken */
	uint32_t in_lo, in_hi, out_lo, out_hi;
};

struct items {
	const struct problem *p;
	struct dense d;
	struct item *it;   /* by value number; 0 is unused */
	uint32_t *empties; /* operations that found nothing */
	uint32_t n, nempties, ngaps;
	size_t bytes_it, bytes_empties;
};

/* Groups the operations by value. LIN_HOLDS: go on. LIN_VIOLATED: already
 * wrong (r has the proof). LIN_REFUSED, LIN_UNKNOWN as usual. */
enum lin_verdict items_open(struct items *s, const struct problem *p, enum fn in, enum fn out, struct result *r);
void items_close(struct items *s);
/* Is the value surely inside in gaps *lo..*hi? */
static inline bool item_inside(const struct item *i, uint32_t *lo, uint32_t *hi)
{
	*lo = i->in_hi + 1;
	*hi = i->out_lo - 1;
	return i->in_hi < i->out_lo - 1;
}
/* How many values are surely inside, by gap (ngaps of them; lim_free). */
int32_t *items_counts(const struct items *s);
/* For each empty answer a gap where nothing need be inside: gaps[i], i <
 * nempties; LIN_VIOLATED when one has none. */
enum lin_verdict items_place_empties(const struct items *s, const int32_t *counts, uint32_t *gaps, struct result *r);

/* Sorting into the order of a witness: by gap, then by class, then by key. */
struct placed {
	uint32_t gap, cls;
	uint64_t key;
	uint32_t op, op2; /* op2: follows immediately, or RANK_INF */
};
void placed_emit(struct placed *a, uint32_t n, struct result *r);

#endif
