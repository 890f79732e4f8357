/*
 * quiescence: the question whether threads can always leave their blocks
 * again (explore/quiet.h), asked beside the questions about atomicity.
 */
#ifndef INTACT_CLI_QUIESCENCE_H
#define INTACT_CLI_QUIESCENCE_H

#include "explore/search.h"
#include "verdict/verdict.h"

/*
 * Puts a verdict into *v and returns 1 when they cannot; returns 0 when they
 * always can or when it was not found out. *answer is a word for it:
 * "always", "lost", "unknown".
 */
uint32_t quiescence_ask(const struct ir *p, const struct search_options *o, struct verdict *v,
                        const char **answer);

#endif
