/*
 * predict: what other schedules could do to the blocks of a recorded run.
 *
 * Two analyses over the same events:
 *  - reduction (predict_reduce.c): the Atomizer (002, section 2): locksets
 *    determine which accesses may race; a block is reducible when it is right
 *    movers, at most one non-mover, left movers. What it names is *possible*:
 *    a warning, not a proof.
 *  - reordering (predict_reorder.c): searches a window of the trace for a
 *    feasible reordering in which another thread's access falls between two
 *    of a block; what it names is *proven*, the reordering is the witness and
 *    is checked by verdict/verify_reorder.c.
 *
 * Findings with the same places are one, with a count.
 */
#ifndef INTACT_DYNAMIC_PREDICT_H
#define INTACT_DYNAMIC_PREDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"
#include "verdict/predicted.h"

struct predict_opts {
	size_t window;  /* events looked at together */
	uint32_t limit; /* findings kept of each kind; 0: all */
};

struct predict;

struct predict *predict_new(const struct predict_opts *o);
/* Events with their flags set (event/order.h). False: out of memory. */
bool predict_feed(struct predict *p, const struct event *ev, size_t n);
/* After the last event. */
bool predict_finish(struct predict *p);
void predict_free(struct predict *p);

/* Findings, kept ones; and how many different ones there were. */
const struct predicted *predict_list(const struct predict *p, size_t *n);
uint64_t predict_count(const struct predict *p, enum predict_kind kind);
/* Both together; *p keeps the list. */
struct predictions predict_all(const struct predict *p);

/* ---- for the two analyses ------------------------------------------------ */

/* Takes `order`. Merges with a finding at the same places. */
void predict_add(struct predict *p, struct predicted f);
/* Has a proven finding at these places been added already? */
bool predict_known(const struct predict *p, const struct predicted *f);

struct reduce;
struct reduce *reduce_new(struct predict *p);
bool reduce_feed(struct reduce *r, const struct event *ev, size_t n);
void reduce_free(struct reduce *r);

struct reorder;
struct reorder *reorder_new(struct predict *p, size_t window);
bool reorder_feed(struct reorder *r, const struct event *ev, size_t n);
bool reorder_finish(struct reorder *r);
void reorder_free(struct reorder *r);

#endif
