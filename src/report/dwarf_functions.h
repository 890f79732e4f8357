/*
 * dwarf_functions: which function, and which calls inlined into it, an address
 * lies in.
 *
 * libdw's own search walks all entries of a unit for every address, and loses
 * inlined calls that clang describes. Here every unit's ranges are read once a
 * module, every function's once a unit, on first use, and kept sorted; an
 * address then costs two binary searches and a walk down its function.
 */
#ifndef INTACT_REPORT_DWARF_FUNCTIONS_H
#define INTACT_REPORT_DWARF_FUNCTIONS_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

struct dwarf_functions;

struct dwarf_functions *dwarf_functions_new(void); /* NULL without memory */
void dwarf_functions_free(struct dwarf_functions *d);

/*
 * The entries around `pc` (an address of the running program) in `mod`,
 * innermost first: inlined subroutines, then the function. At most `max`;
 * returns how many, 0 when the address is in no known function. *cu and *bias
 * are those of its unit; *cu is NULL when even that is unknown.
 */
uint32_t dwarf_functions_around(struct dwarf_functions *d, Dwfl_Module *mod, uint64_t pc, Dwarf_Die **cu, Dwarf_Addr *bias,
                                Dwarf_Die *out, uint32_t max);

#endif
