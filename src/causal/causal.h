/*
 * causal: the single entry point of the causal engines.
 *
 * The question is a block (is it causally atomic, Definition 3 of the paper?)
 * or the program (is there a cycle of causal edges through blocks?). The
 * program is abstracted (program.h), so a proof holds for the program itself,
 * and a violation is one of the abstraction: v->causal has the run, and says
 * whether the data allow it.
 *
 * cover   answers both, for the declared numbers of threads and, for
 *         templates that are asked for with any number, for all of them
 * unfold  answers for blocks and fixed numbers of threads; asked about the
 *         program it looks at all blocks at once, and when none of them is
 *         broken leaves cycles through several to cover
 * pick    cover; when a block's question grows too large for it, unfold
 *
 * v->scope says for how many threads a proof is. (A proof for any number of
 * those asked for with any, when others of several are fixed, has no name
 * there: it is SCOPE_DECLARED.)
 */
#ifndef INTACT_CAUSAL_CAUSAL_H
#define INTACT_CAUSAL_CAUSAL_H

#include "base/diag.h"
#include "ir/ir.h"
#include "verdict/verdict.h"

enum causal_engine { CAUSAL_PICK, CAUSAL_COVER, CAUSAL_UNFOLD };

struct causal_options {
	enum causal_engine engine;
	const char *const *track, *const *abstract; /* variables to keep, to forget */
	uint32_t ntrack, nabstract;
	bool reduced;        /* unfold: a smaller prefix that is enough for the verdict (cutoff.c) */
	bool many;           /* templates of more than one thread: any number of them */
	uint64_t max_states; /* of cover; events of unfold. 0: none */
	uint64_t max_bytes;  /* 0: none */
	double deadline;     /* CLOCK_MONOTONIC seconds; 0: none */
};

/*
 * Answers for `block` (or VERDICT_PROGRAM) into *v; verdict_free is due. *by (unless NULL) says which engine
 * answered, CAUSAL_COVER or CAUSAL_UNFOLD; v->engine is for the caller to set. False
 * when track or abstract name something they cannot: the reason is in `d` and
 * *v is not known.
 */
bool causal_check(const struct ir *p, uint32_t block, const struct causal_options *o, struct diags *d, struct verdict *v,
                  enum causal_engine *by);

#endif
