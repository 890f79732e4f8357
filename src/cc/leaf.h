/*
 * leaf: which functions of a translation unit need no hooks where they are
 * inlined, decided on clang's intermediate code (text, before any pass).
 *
 * A function's hooks are there for two things: a block begins and ends with
 * it, and it appears in stacks. A function that on every path accesses
 * memory at most once, takes no lock and calls nothing that is not known to
 * be such a function too is atomic whatever other threads do: there are no
 * two accesses of it between which they could come. No option can make it a
 * violated block, and where it is inlined the debug information names it in
 * stacks. So its hooks are asked for after inlining (-finstrument-functions-
 * after-inlining has the attribute for it): a call keeps them, an inlined
 * body does not. Readers of one word, hashes, getters, std::move: most calls
 * of a hot loop.
 *
 * What counts as an access: loads, stores, atomic operations and copies
 * through anything but the function's own stack variables; a copy of more
 * than 16 bytes and any access in a function with a loop count as many. What
 * is not understood (indirect and external calls, inline assembly, unknown
 * intrinsics) counts as many: such functions keep all their hooks.
 *
 * Cost: linear in the text; 1.4 MB of it take 10 ms.
 */
#ifndef INTACT_CC_LEAF_H
#define INTACT_CC_LEAF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define LEAF_TEXT_MAX  ((size_t)1 << 30) /* bytes of a unit's text */
#define LEAF_DEPTH_MAX 200               /* calls within calls that are followed */

struct leaf_count {
	uint32_t functions, hooked, leaves; /* defined; with hooks; changed */
};

/* Rewrites `text` (text[len] is 0) into `out`; false when out of memory or the text is too
 * long, and then `out` is not to be used. */
bool leaf_rewrite(const char *text, size_t len, struct buf *out, struct leaf_count *count);

#endif
