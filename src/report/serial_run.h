/*
 * serial_run: a serial run to compare with a run: the same blocks, each in one
 * piece, and the same steps outside, in the order in which the blocks were
 * entered or left. An example of what would have happened, to show beside what
 * did.
 */
#ifndef INTACT_REPORT_SERIAL_RUN_H
#define INTACT_REPORT_SERIAL_RUN_H

#include "verdict/run.h"

/* Longer runs get no companion: it would be as long. */
enum { SERIAL_RUN_MAX = 2000 };

struct glyphs;

/* Makes *out (run_free is due in any case); false when it cannot be finished:
 * a block cannot go on alone, a thread gets elsewhere. */
bool serial_run(const struct run *r, uint32_t block, bool at_exit, struct run *out);

/*
 * For each step of the run, what the same step (of the same block instance, at
 * the same place, in the same round of a loop) did in the companion, when it
 * read or wrote another value: notes[step], malloc'ed, else NULL. False: they
 * all did the same. Cost: cubic in the steps at worst; for short runs.
 */
bool serial_notes(const struct run *r, uint32_t block, const struct run *there, const struct glyphs *g, char **notes);

#endif
