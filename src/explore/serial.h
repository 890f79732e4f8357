/* serial: a serial execution that leads to a given state. */
#ifndef INTACT_EXPLORE_SERIAL_H
#define INTACT_EXPLORE_SERIAL_H

#include "explore/product.h"
#include "verdict/verdict.h"

/*
 * The shortest serial execution (no other thread moves while one is inside a
 * block that counts) from the initial state to the state `goal` (globals and
 * local ids of the product, which is PROD_STANDARD and merges nothing), as
 * moves in *path (malloc'ed, *n of them). False: there is none among the first
 * `max` states, or when out of memory.
 */
bool serial_path(struct product *x, const uint32_t *goal, uint32_t max, struct move **path, uint32_t *n);

#endif
