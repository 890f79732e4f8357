/* schedule: reads a schedule (docs/sim.md) and takes its steps; verdict/replay.h writes one. */
#ifndef INTACT_VERIFY_SCHEDULE_H
#define INTACT_VERIFY_SCHEDULE_H

#include "base/diag.h"
#include "verdict/run.h"

struct sched_item {
	uint32_t thread;
	uint32_t pick, npick; /* into sched.picks */
	uint32_t count;       /* how many times */
	struct span span;
};

struct schedule_list {
	struct arena arena;
	struct source src;
	struct diags diags;
	AVEC(struct sched_item) items;
	AVEC(uint32_t) picks;
	bool brief; /* messages without place: the input is one line */
};

void sched_init(struct schedule_list *s);
void sched_free(struct schedule_list *s);
/* Reads the argument of --schedule (a schedule, @FILE or FILE); false when
 * it is not one, and s->diags says why. */
bool sched_read(struct schedule_list *s, const struct ir *p, const char *arg);
/* The same for a text; `name` is what messages call it. */
bool sched_parse(struct schedule_list *s, const struct ir *p, const char *name, const char *text);
/* Takes its steps; false when one is not possible, and s->diags says which,
 * why, and what was. A fault at the last step does not count. */
bool sched_run(struct schedule_list *s, struct run *r);
/* Writes the run's schedule to a file, twenty steps a line. */
bool sched_save(const struct run *r, const char *path, const char *model, struct why *why);

#endif
