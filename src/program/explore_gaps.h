/*
 * explore_gaps: findings of `intact run` as what the explorer is steered by: the
 * function or block, the two places between which another thread can come in,
 * and what that thread does there (sched/control.h).
 */
#ifndef INTACT_PROGRAM_EXPLORE_GAPS_H
#define INTACT_PROGRAM_EXPLORE_GAPS_H

#include <jansson.h>

#include "base/arena.h"
#include "sched/control.h"
#include "sched/schedule.h"

struct explore_gaps {
	uint32_t n, nmodules;
	bool lock_order; /* the order in which locks were taken counts as a conflict, too */
	struct control_gap gap[CONTROL_GAPS];
	char module[CONTROL_GAP_MODULES][CONTROL_PATH];
	const char *name[CONTROL_GAPS]; /* of the functions; NULL: not known */
};

/* Adds a result of `intact run --json`; `program` is the file that will be explored. NULL, or why that cannot
 * be done (in the arena's memory). */
const char *gaps_add(struct explore_gaps *g, const json_t *finding, const char *program, struct arena *a);

/* As settings of a schedule file, and back. gaps_read: false, a setting of this kind cannot be read. */
uint32_t gaps_write(const struct explore_gaps *g, struct arena *a, struct schedule_pair *out, uint32_t max);
bool gaps_read(struct explore_gaps *g, const struct schedule_pair *in, uint32_t n);
enum { GAPS_SETTINGS = CONTROL_GAPS * (CONTROL_GAP_FNS + 6) };

#endif
