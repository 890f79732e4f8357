/*
 * promela: a program as a Promela model for SPIN.
 *
 * Every way a step can go is one `d_step`: its first statement is the
 * condition under which the step goes that way, so a step that ir_exec calls
 * blocked is not executable and choices are ordinary nondeterminism. With
 * SPIN's own reductions off (-o1 -o2 -o3, -DNOREDUCE) there are exactly as
 * many states as in plain exploration.
 */
#ifndef INTACT_REPORT_PROMELA_H
#define INTACT_REPORT_PROMELA_H

#include "base/diag.h"
#include "ir/ir.h"

enum promela_semantics {
	PROMELA_STANDARD,     /* interleaved steps; faults are failed assertions */
	PROMELA_INSTRUMENTED, /* with the shadow store of the commit-atomicity paper */
};

struct promela_options {
	enum promela_semantics semantics;
	/* Instrumented: where blocks without `commit;` commit. The first step of a
	 * block instance along such an edge; if there is none, its exit. */
	const uint8_t *edge;  /* by index into ir.succs; or NULL */
	const bool *at_entry; /* by block: the step that enters; or NULL */
};

/* False when the program has something that is not exported; `d` says what
 * and where, and `out` is to be thrown away. */
bool promela_export(const struct ir *p, const struct promela_options *o, struct diags *d, struct buf *out);

#endif
