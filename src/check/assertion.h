/*
 * assertion: the two assertions of the SOAR paper, Fig. 3 and Definition 1,
 * over histories that an exploration recorded.
 */
#ifndef INTACT_CHECK_ASSERTION_H
#define INTACT_CHECK_ASSERTION_H

#include "explore/monitor.h"
#include "history/history.h"

struct assertion {
	bool clmt; /* Definition 1; else SOAR */
	struct values vals;
	struct limits lim;
	struct arena arena;
	val init;
	struct hop *hops;
	uint32_t cap;
	bool refused; /* some history was too large for it, or out of memory */
};

void assertion_open(struct assertion *a, bool clmt, int32_t init);
void assertion_close(struct assertion *a);
/* A monitor_judge; `arg` is a struct assertion. */
bool assertion_judge(void *arg, const struct monitor_op *ops, uint32_t n, uint32_t nevents);

#endif
