/*
 * properties: the conditions on states that the model states (`always`, `finally`, `can always reach`), each a question of its
 * own, asked beside those about atomicity (explore/property_search.h).
 */
#ifndef INTACT_CHECK_PROPERTIES_H
#define INTACT_CHECK_PROPERTIES_H

#include "explore/search.h"
#include "verdict/verdict.h"

/* Puts a verdict for each of the program's properties into v[0 ..]; how many. */
uint32_t properties_ask(const struct ir *p, const struct search_options *o, struct verdict *v);

#endif
