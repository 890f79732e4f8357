/*
 * effects: what clang's intermediate code (text, before any pass) says of a translation unit and
 * memory does not show while the program runs:
 *
 *   updates       x += e, x--, p->n = p->n | 4: a load and a store of one place, the stored value computed from the
 *                 loaded one. Is it a commutative update, so that the order of several does not matter (added to,
 *                 masked, ... by what does not depend on x, and the value used for nothing else)? If it is used: as an
 *                 index or address, or otherwise?
 *   dependences   of a call on another: its arguments, or whether it is made at all, may be computed from
 *                 the other's result, or from what that one wrote through a pointer to a local variable
 *   joins         two calls, neither depending on the other, whose results meet in one operation
 *
 * They go into the section EFFECTS_SECTION of the object as text, by line and column, in the form of
 * base/symtab.h (lines w and u); the linker concatenates the sections of all objects.
 *
 * What is said of updates is true of the code; what is not understood is not said: no line says that there is no update. A reader
 * takes the absence of a line for unknown. Dependences are all that there may be within the function. They may raise a
 * finding, never lower one.
 *
 * How: each function is read once into instructions. Values are numbered by what they compute (a load by its address and
 * by how many stores and calls came before it in its block), so that the two addresses in s->n = s->n + 1 are one. Local
 * variables that are stored once (parameters, most locals) are looked through. Calls in a function (up to
 * EFFECTS_CALLS) are bits; sets of them are passed on along operands, local variables and control dependences
 * until nothing changes.
 *
 * Cost: linear in the text except for the sets: blocks times calls of a function.
 */
#ifndef INTACT_CC_EFFECTS_H
#define INTACT_CC_EFFECTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define EFFECTS_SECTION ".intact_effects"
enum { EFFECTS_CALLS = 256, EFFECTS_BLOCKS = 2048, EFFECTS_PAIRS = 4096, EFFECTS_FLOW = 1 << 18, EFFECTS_PASSES = 256 };

/* The lines for `text` (text[len] is 0), appended to `out`; false without memory. */
bool effects_list(const char *text, size_t len, struct buf *out);
/* The same as a piece of assembly for the end of the text, nothing when there are none. */
bool effects_append(const char *text, size_t len, struct buf *out);

#endif
