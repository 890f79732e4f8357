/*
 * causal_text: what the causal engines found, as people read it: one line per
 * question, then each counterexample as a diagram of the partial order.
 *
 *        worker 1               meddler
 *     1  m: false -> true
 *     2  [ update
 *     3  | read data
 *        '-------- data ------> 
 *     4                         write data
 *        <-------- data --------'
 *     5  | write data
 *
 * One column per thread, time from top to bottom, an arrow for each link of
 * the chain that leads to another thread, with the variable that carries it.
 * When the page is too narrow the columns give way to the threads' names.
 */
#ifndef INTACT_REPORT_CAUSAL_TEXT_H
#define INTACT_REPORT_CAUSAL_TEXT_H

#include "base/buf.h"
#include "verdict/causal_run.h"

struct causal_text_options {
	unsigned width; /* columns of the page; 0: as wide as it gets */
	bool utf8, color, stats;
	const char *model; /* as the user named it */
};

/* "causally atomic", "NOT SERIALIZABLE", ... */
const char *causal_headline(const struct verdict *v);

void causal_text(const struct ir *p, const struct verdict *v, uint32_t n,
                 const struct causal_text_options *o, struct buf *out);
/* The run alone: diagram, chain, schedule. `concrete` is the program that its
 * path is a schedule of, when it has one. */
void causal_diagram(const struct ir *p, const struct causal_run *r,
                    const struct causal_text_options *o, struct buf *out);
/* What the step of an event does: "read data", "m: false -> true". */
void causal_event_text(const struct ir *p, const struct causal_run *r, uint32_t event, bool utf8,
                       struct buf *out);
/* "worker 2", or "worker" when the run has one of them. */
void causal_thread_text(const struct ir *p, const struct causal_run *r, uint32_t thread,
                        struct buf *out);

#endif
