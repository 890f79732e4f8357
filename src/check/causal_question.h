/*
 * causal_question: causal atomicity as a question of its own, for the engines
 * that answer it by themselves (causal, cover, unfold).
 */
#ifndef INTACT_CHECK_CAUSAL_QUESTION_H
#define INTACT_CHECK_CAUSAL_QUESTION_H

#include "causal/causal.h"
#include "check/check.h"

/*
 * Is the block, or the program (VERDICT_PROGRAM), causally atomic? The answer is *v; a run that it finds has a
 * schedule for `intact sim`, with as many threads as it needs. False when --track or --abstract name
 * what they cannot: see `d`.
 */
bool causal_question(const struct ir *p, uint32_t block, enum causal_engine engine, const struct check_options *o, struct diags *d,
                     struct verdict *v);
/* Can the variables to keep and to forget be kept and forgotten? Else an error is in `d`. */
bool causal_names_fit(const struct ir *p, const struct check_options *o, struct diags *d);

#endif
