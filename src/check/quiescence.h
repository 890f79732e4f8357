/*
 * quiescence: the question whether threads can always leave their blocks
 * again (explore/quiescence_search.h), asked beside the questions about atomicity.
 */
#ifndef INTACT_CHECK_QUIESCENCE_H
#define INTACT_CHECK_QUIESCENCE_H

#include "explore/search.h"
#include "verdict/verdict.h"

enum way_out { WAY_OUT_NOT_ASKED, WAY_OUT_ALWAYS, WAY_OUT_LOST, WAY_OUT_UNKNOWN };

/*
 * Puts a verdict into *v and returns 1 when they cannot; returns 0 when they
 * always can or when it was not found out. *answer says which.
 */
uint32_t quiescence_ask(const struct ir *p, const struct search_options *o, struct verdict *v, enum way_out *answer);
/* "always", "lost", "unknown"; NULL: it was not asked. */
const char *quiescence_word(enum way_out w);

#endif
