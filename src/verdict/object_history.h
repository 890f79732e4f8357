/*
 * object_history: the history of an object that a run made: what was invoked
 * and answered when, and whether it meets a condition.
 *
 * Operations are in the order of their invocations and have names: w1, w2,
 * ... the writes, r1, r2, ... the reads. Times are places among the events of
 * the history; steps are those of the run, from 0.
 */
#ifndef INTACT_VERDICT_OBJECT_HISTORY_H
#define INTACT_VERDICT_OBJECT_HISTORY_H

#include "base/buf.h"
#include "verdict/run.h"

#define OBJECT_OPEN UINT32_MAX

struct object_op {
	uint32_t thread, oper; /* oper: ir_oper */
	bool is_write;
	int32_t value;      /* written, or returned (once it has) */
	uint32_t call, ret; /* times; OBJECT_OPEN: not answered */
	uint32_t call_step, ret_step;
	uint32_t number; /* among the writes or the reads, from 1 */
};

struct object_history {
	const struct ir *ir;
	uint32_t object;
	struct object_op *ops;
	uint32_t n, nevents;
};

enum object_condition { OBJECT_ATOMIC, OBJECT_REGULAR, OBJECT_SAFE };
extern const char *const object_conditions[]; /* their names, NULL-terminated */

/* False when out of memory; object_history_free is due in any case. */
bool object_history_init(struct object_history *h, const struct run *r, uint32_t object);
void object_history_free(struct object_history *h);

/* "r2" */
void object_op_name(const struct object_op *o, struct buf *out);
/* "write(true)", "read -> true", "read" */
void object_op_text(const struct object_history *h, const struct object_op *o, bool utf8, struct buf *out);

/* The independent judgement: 1 it does not meet the condition, 0 it does, -1
 * too large to decide. `why` gets a reason unless it is 1. */
int object_history_refuted(const struct object_history *h, enum object_condition c, struct why *why);

#endif
