/*
 * protection: which locks protect a shared variable: every place in the text that accesses it, with the locks that the thread certainly
 * holds there, in every execution of any number of threads (reduce/flow.h; hand-made locks included).
 */
#ifndef INTACT_LSP_PROTECTION_H
#define INTACT_LSP_PROTECTION_H

#include "base/arena.h"
#include "ir/ir.h"

struct protected_access {
	struct span span;
	uint32_t modes;   /* enum ir_access_mode, together */
	uint32_t set;     /* of `locks` */
	uint32_t threads; /* templates that come here: this one, or IR_NONE: several */
};

struct protection {
	struct flow *flow;
	AVEC(struct protected_access) accesses; /* in the order of the text */
	uint32_t common;                        /* held at every access */
	uint32_t thread;                        /* of the accesses: one template of one thread; else IR_NONE */
	bool written;
};

/* `var`: of the program. The arena's oom target must be set. False: the program is too large for this. */
bool protection_find(struct protection *out, const struct ir *p, uint32_t var, struct arena *a);
/* "`m`, `slot[2]`"; "nothing" when the set is empty. */
void protection_locks(const struct protection *pr, uint32_t set, struct buf *out);

#endif
