/*
 * step_text: a short text for one step of a run.
 *
 * Everything that comes from the model's text goes through buf_safe, so what
 * is written here may be shown on a terminal as it is.
 */
#ifndef INTACT_REPORT_STEP_TEXT_H
#define INTACT_REPORT_STEP_TEXT_H

#include "base/buf.h"
#include "verdict/run.h"

/* The marks of a rendering: box characters, or plain ASCII. */
struct glyphs {
	const char *arrow, *top, *bar, *bottom, *dots, *dot;
};
const struct glyphs *glyphs_for(bool utf8);

/* "2: worker 2": the number that schedules use, and the name. */
void text_thread(const struct ir *p, uint32_t thread, struct buf *out);
/* "thread 2 (worker 2)", inside a sentence. */
void text_who(const struct ir *p, uint32_t thread, struct buf *out);
/* "count", "want[1]" */
void text_variable(const struct ir *p, uint32_t var, uint32_t elem, struct buf *out);
void text_value(const struct ir *p, uint32_t var, int32_t value, struct buf *out);
/* "v = 3" or "a[1] = true" */
void text_local(const struct ir *p, const struct run_local *l, struct buf *out);
/* "read count -> 0", "cas(m) fails", "enter update", "bit.read() returns true" */
void text_step(const struct run *r, uint32_t step, const struct glyphs *g, struct buf *out);
/* The same inside a lane: a block's boundary is its name after a corner.
 * Returns how many bytes of it, at the end, say what came of the step (the
 * value read, picks, commit, fault): what is best kept when room is short. */
size_t text_step_lane(const struct run *r, uint32_t step, const struct glyphs *g, struct buf *out);
/* "m: free -> held, count: 0 -> 1"; when brief, "m -> held, count -> 1".
 * Returns how many bytes at the end are the new value of the only change. */
size_t text_changes(const struct run *r, uint32_t step, const struct glyphs *g, bool brief, struct buf *out);
/*
 * The named locals a thread sees now, the innermost first, at most `max` of
 * them into `out` (ids into ir.locals). A name hidden by an inner one and a
 * local that has no value here are left out. Returns how many there are.
 */
uint32_t text_visible(const struct run *r, uint32_t thread, uint32_t *out, uint32_t max);
/* The same in any state. */
uint32_t text_visible_in(const struct ir *p, const int32_t *state, uint32_t thread, uint32_t *out, uint32_t max);
/* The source line of a node, from 1. */
uint32_t text_line(const struct ir *p, uint32_t node);
/*
 * Why a thread that cannot move does not: "waits at line 16: acquire(m); m is
 * held by thread 1 (worker 1)".
 */
void text_wait(const struct run *r, uint32_t thread, struct buf *out);

#endif
