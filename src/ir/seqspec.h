/*
 * seqspec: a sequential specification as a program.
 *
 * Each method is a thread whose only step runs the method alone: it reads its
 * arguments from the slots `arg`, and leaves the result in `result`. The other
 * globals are the object's state. Applying a method to a state gives a set of
 * outcomes: none when it is not allowed there (an assume that does not hold,
 * a lock that is taken, a fault), several when it chooses.
 */
#ifndef INTACT_IR_SEQSPEC_H
#define INTACT_IR_SEQSPEC_H

#include "ir/ir.h"

#define SEQSPEC_MAX_PARAMS  8u
#define SEQSPEC_MAX_METHODS 200u

struct seqspec_type {
	enum ir_value_kind kind; /* bool, int or enum */
	uint32_t enum_id;
	int32_t lo, hi;
};

struct seqspec_method {
	const char *name;
	uint32_t thread;
	uint32_t nparams;
	struct seqspec_type params[SEQSPEC_MAX_PARAMS];
	bool has_result;
	struct seqspec_type result;
};

struct seqspec {
	const struct ir *ir;
	const char *name; /* of the object */
	const char *path; /* of its file */
	struct seqspec_method *methods;
	uint32_t nmethods;
	uint32_t arg[SEQSPEC_MAX_PARAMS], narg; /* slots of the globals */
	uint32_t result;
	bool choices; /* some method may have several outcomes */
};

/* The state an object starts in: ir->init, nglobals values. */
/*
 * Calls `visit` with each outcome of the method on the state `g` (arguments
 * and result 0): the state afterwards, in the same form, and the result.
 * `room` is for 3 * nglobals + IR_MAX_SLOTS values. False: a step was too long
 * to finish (IRF_LIMIT), nothing is known.
 */
typedef void seqspec_visit(void *arg, const int32_t *g, int32_t result);
bool seqspec_apply(const struct seqspec *s, const int32_t *g, uint32_t method, const int32_t *args, int32_t *room,
                   seqspec_visit *visit, void *arg);

#endif
