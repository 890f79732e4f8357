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

#include "report/check_text.h"

/* Of a result with verdicts about causality alone. */
void causal_text(const struct checked *c, const struct check_text_options *o, struct buf *out);

#endif
