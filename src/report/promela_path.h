/*
 * promela_path: all the paths through the code after a node.
 *
 * The code is run on symbolic values (expressions over the state before the
 * step) and forks at every condition that is not constant. A path is the list
 * of conditions under which it is taken, in the order they were met (one may
 * be evaluated when those before it hold: no index out of bounds, no division
 * by zero), and the instructions executed. Choices fork over their values.
 * Values carry an interval, so checks that cannot fail leave no trace.
 *
 * Cost: paths times instructions; both are bounded, and so is the depth of
 * an expression.
 */
#ifndef INTACT_REPORT_PROMELA_PATH_H
#define INTACT_REPORT_PROMELA_PATH_H

#include "ir/ir.h"

enum ex_kind { EX_CONST, EX_REG, EX_GLOBAL, EX_ELEM, EX_UNARY, EX_BINARY, EX_ITE };

struct ex {               /* an expression over the state before the step */
	uint8_t kind, op; /* op: enum ir_op */
	uint16_t depth;
	int32_t a, b, c; /* operands: ids; EX_CONST: a is the value; EX_REG: a the
	                    * register; EX_GLOBAL: var a, element b; EX_ELEM: var a, [b] */
	int64_t lo, hi;
};

struct pins {                /* an executed instruction */
	uint32_t ins;        /* IR_NONE: register `choice` becomes 0 on arrival */
	int32_t choice;      /* IR_CHOOSE: the value; IR_CAS: won */
	uint32_t b, c, d, e; /* values of its operands */
};

enum path_end { PATH_NODE, PATH_STUCK, PATH_FAULT };

struct path {
	uint32_t *cond; /* ids of expressions that must hold */
	uint32_t ncond, cap_cond;
	struct pins *code;
	uint32_t ncode, cap_code;
	enum path_end end;
	uint32_t node; /* where it leads */
	enum ir_fault fault;
	uint32_t fault_ins;
	uint32_t nchoices;
	bool commits; /* passes commit;, or leaves a block that has not yet */
};

struct paths {
	const struct ir *ir;
	struct ex *ex;
	uint32_t nex, cap_ex;
	struct path *list;
	uint32_t n, cap;
	uint64_t work;
	const char *error; /* what was too much, or NULL */
	uint32_t error_ins;
};

void paths_init(struct paths *x, const struct ir *ir);
void paths_free(struct paths *x);
/* The paths of a step from `node`, in the order of ir_each; false: x->error. */
bool paths_of(struct paths *x, uint32_t tmpl, uint32_t node);

#endif
