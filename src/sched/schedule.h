/*
 * schedule: the text of a schedule file. Works on bytes in memory, so that the
 * runtime in the guest and the command line share it; opening files is theirs.
 *
 *   intact-schedule 1
 *   program "./test"
 *   argument "--fast"                       one line each, in order
 *   environment "TZ=UTC"                    those that matter
 *   mode fibers                             how it was run
 *   seed 42
 *   setting "rand" "1234"                   anything the user wants back
 *   module 0 "./test" build-id 8a0f...      places are module+offset
 *   point 0+0x1234                          places that are points because they race
 *   thread 1 parent 0 child 0
 *   step 1 lock 0+0x11d0                    thread, kind, place
 *   step 0 cond-signal 0+0x1234 choice 1/2
 *   end 2
 *
 * One line a choice, the order is the schedule; `end` counts the steps, so a
 * truncated file is noticed. Strings are quoted with \" \\ \n \t \xNN.
 * Unknown lines are errors. Sizes are bounded: a line 64 KiB, 4,096 arguments
 * and settings together, 1,024 modules, 65,536 points, 10,000,000 steps.
 */
#ifndef INTACT_SCHED_SCHEDULE_H
#define INTACT_SCHED_SCHEDULE_H

#include "sched/sched.h"

struct schedule_module {
	const char *name, *build_id; /* build id in hex, "" if unknown */
	uint64_t from, to;           /* where it is loaded, [from, to): of the writer only */
};

struct schedule_place {
	uint32_t module; /* SCHEDULE_NOWHERE: no place */
	uint64_t offset;
};
enum { SCHEDULE_NOWHERE = 0xffffffffu };

struct schedule_pair {
	const char *name, *value;
};

/* What a file holds. */
struct schedule {
	const char *program, *mode;
	const char **arguments, **environment;
	uint32_t n_arguments, n_environment;
	uint64_t seed;
	struct schedule_pair *settings;
	uint32_t n_settings;
	struct schedule_module *modules;
	uint32_t n_modules;
	struct schedule_place *points;
	uint32_t n_points;
	struct sched_origin *origins; /* by thread id; [0] unused */
	uint32_t n_threads;
	struct sched_event *steps;     /* op.pc: filled by schedule_resolve */
	struct schedule_place *places; /* of each step */
	uint32_t n_steps;
};

/* Writing: the bytes written, or those needed if more than `room` (then the
 * text is incomplete). Steps' places come from op.pc through the modules when
 * `places` is NULL. Notes are left out. */
size_t schedule_write(const struct schedule *f, char *text, size_t room);

struct schedule_error {
	uint32_t line, column, length; /* from 1; what to underline */
	const char *message, *hint;    /* constants */
};

/* Reading: everything, strings included, is put into memory. False and *error
 * on bad input; memory too small is an error like others ("too large"). */
bool schedule_read(struct schedule *f, const char *text, size_t len, void *memory, size_t bytes, struct schedule_error *error);
size_t schedule_memory(size_t len); /* enough for any text of that length */

/* Fills op.pc of the steps from the modules' `from` (set by the caller). */
void schedule_resolve(struct schedule *f);

#endif
