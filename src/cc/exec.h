/*
 * exec: running the compiler. INTACT_CC_VERBOSE shows each line.
 */
#ifndef INTACT_CC_EXEC_H
#define INTACT_CC_EXEC_H

#include <stddef.h>

#include "cc/line.h"

/* In place of this process. */
_Noreturn void cc_become(struct args *a);
/* Beside it, because files of ours are to be removed then; a signal to us is
 * meant for it. Its messages go to the file `err` unless that is -1. Returns
 * its status, 128 and the signal's number when one ended it. */
int cc_spawn(struct args *a, int err);
/* A new empty file where temporary files go; its name goes to `path`.
 * Returns it open, -1 when there can be none. */
int cc_temp(char *path, size_t size, const char *suffix);

#endif
