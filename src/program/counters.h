/*
 * counters: where in a program's file the compiler counts what is executed (--coverage, -fprofile-generate). All threads
 * write there without a lock; that is no data race worth a report.
 */
#ifndef INTACT_PROGRAM_COUNTERS_H
#define INTACT_PROGRAM_COUNTERS_H

#include <stdint.h>

struct counter_range {
	uint64_t lo, hi; /* addresses in the file */
};

/* At most `max` ranges, merged where they touch; 0 when there are none or the file cannot be read. */
uint32_t counters_of(const char *program, struct counter_range *out, uint32_t max);

#endif
