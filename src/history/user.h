/*
 * user: objects that a user specified in the model language (ir/seqspec.h).
 *
 * Their operations have the function codes FN_COUNT + number of the method;
 * `a` is the argument (a list when there are several), `b` the result, or
 * VAL_NONE when it was not recorded and may be anything.
 *
 * A specification may choose, so after a few operations the object can be in
 * one of several states: a state here is the set of all of them, sorted, one
 * after the other. An order of operations is legal for the specification when
 * the set is not empty at its end, so the engines, which know nothing of
 * sets, search among orders as for any other object.
 */
#ifndef INTACT_HISTORY_USER_H
#define INTACT_HISTORY_USER_H

#include "ir/seqspec.h"
#include "history/spec.h"

#define USER_MAX_SET 4096u /* states at once; more: unknown (memory) */

extern const struct spec user_spec;

/* The code of the method of this name, or FN_NONE. A dash is an underscore,
 * and an underscore at the end of a method's name does not count: `cas_` is
 * the operation cas, which cannot be a name because it is a keyword. */
uint32_t user_fn(const struct seqspec *s, const char *name, size_t len);
/* One operation as read: 1 kept, 0 says nothing, -1 wrong (*why). Text of
 * messages is in h's arena. */
int user_interpret(struct history *h, struct hop *op, struct why *why);
/* "withdraw 5 -> true" */
void user_print(const struct history *h, const struct hop *op, struct buf *out);

#endif
