/* atomic_functions: functions of a program that are to be marked blocks, by name. */
#ifndef INTACT_PROGRAM_ATOMIC_FUNCTIONS_H
#define INTACT_PROGRAM_ATOMIC_FUNCTIONS_H

#include "report/finding.h"

/* Tells the programs that are started from now on which functions of `program` are marked blocks: those that `match`
 * picks (report/finding.h, symbols_functions). False: there is no such program. */
bool atomic_functions_set(struct arena *a, const char *program,
                          bool (*match)(void *ctx, const char *function, const char *file, uint32_t line, bool there), void *ctx);

#endif
