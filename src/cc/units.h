/*
 * units: clang's sources to objects in two steps, with the hooks of small
 * inlined functions left out in between (cc/leaf.h).
 *
 * First to intermediate code without any pass, then from there to the object:
 * without the change in between the object is the same byte for byte. Command
 * lines that ask for something in between (-S, -E, -flto, -save-temps, profiles,
 * plug-ins, -x, @file ...) are not for this, nor are those that do not optimise:
 * nothing is inlined there.
 * When a step fails its messages are dropped and the caller compiles as usual,
 * so what the user reads of errors is the compiler's own and once.
 */
#ifndef INTACT_CC_UNITS_H
#define INTACT_CC_UNITS_H

#include <stdbool.h>

#include "cc/line.h"

struct units {
	struct args line;  /* the command line with objects for sources */
	struct args temps; /* those of them that are to be removed */
};

/* Whether the line's sources can be compiled so. */
bool units_possible(const struct task *t, int argc, char **argv, bool link);
/* Compiles each with `compiler` (its name and our flags): 0 when all is done,
 * 1 when it has to be done as usual, 128 and more when a signal stopped it. */
int units_compile(struct units *u, const struct args *compiler, int argc, char **argv, bool link);
void units_free(struct units *u);

#endif
