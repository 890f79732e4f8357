/*
 * doctor: does this machine have what watching and exploring programs needs?
 *
 * Each check is a row: what was looked at, what was found, and for a problem the fix. Reading settings shows only some
 * problems, so a program with a lost update is compiled by each compiler, watched and explored: what the commands say
 * about it decides. A problem without which the commands cannot do their work is BAD; one that costs a part of it (no
 * gdb, no second compiler) is a NOTE.
 */
#ifndef INTACT_PROJECT_DOCTOR_H
#define INTACT_PROJECT_DOCTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum doctor_state { DOCTOR_OK, DOCTOR_NOTE, DOCTOR_BAD };

struct doctor_row {
	enum doctor_state state;
	const char *subject; /* "compiler gcc" */
	const char *found;   /* "gcc (Debian 12.2.0-14) 12.2.0" */
	const char *fix;     /* NULL: nothing to do */
};

struct doctor {
	struct arena *arena;
	AVEC(struct doctor_row) rows;
	uint32_t bad;
};

void doctor_add(struct doctor *d, enum doctor_state state, const char *fix, const char *subject, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* Machine, kernel, limits, tools, compilers. `quick`: nothing is compiled. */
void doctor_machine(struct doctor *d, bool quick);
/* One program (doctor_program.c): is it built with `intact cc`, does it have debug information? */
void doctor_program(struct doctor *d, const char *path);

#endif
