/*
 * progress: one line about a search that takes its time, on a terminal only.
 */
#ifndef INTACT_CLI_PROGRESS_H
#define INTACT_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "program/explore_search.h"

struct progress {
	bool on;            /* standard error is a terminal */
	bool shown;         /* there is a line to be cleared */
	double start, last; /* CLOCK_MONOTONIC seconds */
	uint64_t states;    /* at the last line */
	const char *what;   /* before the numbers; NULL: nothing */
};

void progress_begin(struct progress *p);
/* search_options.progress; may be called often. */
void progress_line(void *arg, uint64_t states, uint64_t transitions, uint32_t depth, uint64_t bytes);
/* explore_ask.progress */
void progress_schedules(void *arg, const struct explore_progress *x);
/* Clears the line. */
void progress_end(struct progress *p);

#endif
