/*
 * dwarf_fields: which part of a variable an offset is: `table[3].next`, from the types in the debugging information.
 *
 * The variables with a fixed address of a module are read once, on first use, and kept sorted. At most FIELDS_ENTRIES entries
 * are looked at and FIELDS_DEPTH types inside each other followed: what lies beyond is not known. Members whose names begin with
 * an underscore and a capital letter or with two underscores are a library's own (pthread_mutex_t, std::atomic): the path ends before them.
 */
#ifndef INTACT_REPORT_DWARF_FIELDS_H
#define INTACT_REPORT_DWARF_FIELDS_H

#include <elfutils/libdwfl.h>
#include <stdint.h>

#include "base/buf.h"

struct dwarf_fields;

struct dwarf_fields *dwarf_fields_new(void); /* NULL without memory */
void dwarf_fields_free(struct dwarf_fields *f);

/*
 * Appends to `out` the path from the variable at `start` (an address of the module) to its byte `off`: ".lock", "[2].n",
 * or nothing when it is the variable itself. False, and nothing, when its type is not known, or the byte lies
 * in none of its parts (padding) or in the middle of one.
 */
bool dwarf_fields_path(struct dwarf_fields *f, Dwfl_Module *mod, uint64_t start, uint64_t off, struct buf *out);

#endif
