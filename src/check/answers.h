/* answers: what every way to check a model does with blocks and verdicts. */
#ifndef INTACT_CHECK_ANSWERS_H
#define INTACT_CHECK_ANSWERS_H

#include "ir/ir.h"
#include "verdict/verdict.h"

/* Is this what the block is called: "update" or "worker.update"? */
bool answers_name_block(const struct ir *p, uint32_t b, const char *name);
/* What n answers say together: one violation is enough, then one unknown. */
enum answer answers_together(const struct verdict *v, uint32_t n);

#endif
