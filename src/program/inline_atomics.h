/*
 * inline_atomics: atomic instructions in a program's file that are not the compiler's
 * atomics, which are calls in a program built with `intact cc`: inline assembly, or code
 * that was linked without hooks. Exploring has no points there.
 */
#ifndef INTACT_PROGRAM_INLINE_ATOMICS_H
#define INTACT_PROGRAM_INLINE_ATOMICS_H

#include "base/buf.h"

/* A warning that names the first places; nothing when there are none or the file cannot be read. */
void inline_atomics_warn(const char *program, struct buf *err);

#endif
