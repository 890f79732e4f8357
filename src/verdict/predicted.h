/* predicted: what other schedules could do to the blocks of a recorded run (dynamic/predict.h), as data. */
#ifndef INTACT_VERDICT_PREDICTED_H
#define INTACT_VERDICT_PREDICTED_H

#include <stddef.h>
#include <stdint.h>

enum predict_kind { PREDICT_POSSIBLE, PREDICT_PROVEN };

/* An event named in a finding. */
struct predict_event {
	uint64_t event;
	uint32_t thread, target, loc;
	uint8_t kind;
};

struct predicted {
	enum predict_kind kind;
	uint64_t count;
	struct predict_event begin; /* of the block; event 0: before the window */
	/* possible: the commit point and the event that breaks the pattern;
	 * proven: the two accesses of the block, and what falls between them:
	 * one access that conflicts with both, or two (`until` is the second) */
	struct predict_event first, second, between, until;
	/*
	 * proven: the witness. All events before `start` as recorded, then
	 * those of `order` (numbers of events), of which the last is `second`.
	 */
	uint64_t start;
	uint64_t *order;
	size_t norder;
	size_t remote, local; /* where in `order` the other thread's part and the
	                         block's last part start */
};

/* Those that are kept, and how many different ones there were. */
struct predictions {
	const struct predicted *list;
	size_t n;
	uint64_t proven, possible;
};

#endif
