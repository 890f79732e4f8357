/*
 * promela_ex: the expressions of promela_path.h, built with constants folded
 * and an interval of possible values each. Expressions are ids into paths.ex
 * and never freed one by one.
 */
#ifndef INTACT_REPORT_PROMELA_EX_H
#define INTACT_REPORT_PROMELA_EX_H

#include "report/promela_path.h"

/* Notes the first thing that was too much; returns false. */
bool paths_fail(struct paths *x, const char *what, uint32_t ins);
/* Room for `need` elements; false when memory is short. */

uint32_t ex_add(struct paths *x, struct ex e);
uint32_t ex_const(struct paths *x, int64_t v);
uint32_t ex_binary(struct paths *x, enum ir_op op, uint32_t a, uint32_t b);
uint32_t ex_unary(struct paths *x, enum ir_op op, uint32_t a);
uint32_t ex_ite(struct paths *x, uint32_t c, uint32_t yes, uint32_t no);
/* Does a op b fit into 32 bits? Said without leaving them. */
uint32_t ex_fits(struct paths *x, enum ir_op op, uint32_t a, uint32_t b);
bool ex_is_const(const struct paths *x, uint32_t e);
/* The depth of an expression over a and b. */
uint16_t ex_deeper(const struct paths *x, uint32_t a, uint32_t b);
/* The values of a op b, without regard to 32 bits; whole ints where unknown. */
void ex_interval(enum ir_op op, const struct ex *a, const struct ex *b, int64_t *lo, int64_t *hi);
/* Constant operands; the caller has made sure that the result exists. */
int64_t ex_fold(enum ir_op op, int64_t a, int64_t b);

#endif
