/* compile: what `intact cc` and `intact c++` do: a compiler's command line run with our part added. */
#ifndef INTACT_CC_COMPILE_H
#define INTACT_CC_COMPILE_H

#include <stdbool.h>

#include "base/buf.h"

/* Runs the line, perhaps in place of this process; the compiler's status, or EXIT_USAGE with a message in `err` when it cannot
 * work. `keeps_pipe`: SIGPIPE was ignored before us, and stays so. */
int cc_compile(int argc, char **argv, bool cxx, bool keeps_pipe, struct buf *err);

#endif
