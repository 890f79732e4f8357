/*
 * stripped_functions: functions of a program whose symbols were taken away.
 *
 * What strip leaves is the table that unwinding uses (.eh_frame_hdr, sorted by the
 * functions' addresses): it shows which function contains an address. So one
 * function has one name wherever it is met: its file and the offset of its first
 * instruction.
 */
#ifndef INTACT_REPORT_STRIPPED_FUNCTIONS_H
#define INTACT_REPORT_STRIPPED_FUNCTIONS_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

#include "report/finding.h"

/* Where the function around `pc` begins, an address as the module's; 0: unknown. */
uint64_t stripped_function(Dwfl_Module *mod, uint64_t pc);
/* A name for the function at `pc` that has none: "bank+0x1180"; how threads start for
 * code of our runtime; NULL in the system's libraries, whose functions are not
 * reported. `f` has its module and offset. */
const char *stripped_name(struct arena *a, Dwfl_Module *mod, uint64_t pc, const struct src_frame *f);
/* The outermost frame of a stack: is it the C library's, which calls main and handlers? */
bool stripped_in_libc(const struct src_frame *f);

#endif
