/*
 * sim: what the parts of `intact sim` share.
 *
 * cmd_sim.c has the options, random runs and what is said at the end;
 * sim_schedule.c reads schedules; sim_shell.c is the interactive session.
 */
#ifndef INTACT_CLI_SIM_H
#define INTACT_CLI_SIM_H

#include "cli/model.h"
#include "cli/outputs.h"
#include "report/step_text.h"
#include "verdict/run.h"

enum sim_trace { TRACE_TABLE, TRACE_LIST, TRACE_NONE };
enum sim_until { UNTIL_END, UNTIL_QUIESCENT, UNTIL_FAULT };
enum sim_end {
	END_STEPS,     /* the number of steps asked for is used up */
	END_SCHEDULE,  /* the schedule is */
	END_QUIESCENT, /* --until=quiescent */
	END_SESSION,   /* the user has had enough */
	END_FINISHED,  /* every thread has */
	END_DEADLOCK,  /* none can move, and not all have finished */
	END_FAULT,
	END_MEMORY,
};

struct sim {
	struct cli *cli;
	const struct cmd *cmd;
	const char *path;
	const struct ir *ir;
	struct model_options model;
	struct run run;
	struct rng rng;
	uint64_t seed, steps, runs;
	const char *schedule, *save;
	int trace, until, charset;
	bool interactive, full, utf8;
	struct outputs outputs;
	bool random; /* the steps so far are those of the seed alone */
	bool used_seed;
};

/* ---- schedules (sim_schedule.c) ----------------------------------------- */

struct sched_item {
	uint32_t thread;
	uint32_t pick, npick; /* into sched.picks */
	uint32_t count;       /* how many times */
	struct span span;
};

struct sched {
	struct arena arena;
	struct source src;
	struct diags diags;
	AVEC(struct sched_item) items;
	AVEC(uint32_t) picks;
	bool brief; /* messages without place: the input is one line */
};

void sched_init(struct sched *s);
void sched_free(struct sched *s);
/* Reads the argument of --schedule (a schedule, @FILE or FILE); false when
 * it is not one, and s->diags says why. */
bool sched_read(struct sched *s, const struct ir *p, const char *arg);
/* The same for a text; `name` is what messages call it. */
bool sched_parse(struct sched *s, const struct ir *p, const char *name, const char *text);
/* Takes its steps; false when one is not possible, and s->diags says which,
 * why, and what was. A fault at the last step is none of that. */
bool sched_run(struct sched *s, struct run *r);
/* Writes the run's schedule to a file, twenty steps a line. */
bool sched_save(const struct run *r, const char *path, const char *model, struct buf *why);

/* ---- the session (sim_shell.c) ------------------------------------------ */

void sim_shell(struct sim *s);

/* ---- shared by them (cmd_sim.c) ----------------------------------------- */

/* "m = free, count = 1", all shared variables. */
void sim_shared_state(const struct sim *s, struct buf *out);
/* The run so far, as the options want it. */
void sim_trace(struct sim *s, struct buf *out);
/* The fault of the last step: place, sentence, source line. */
void sim_fault(struct sim *s, struct buf *out);
/* Whether anything can move, and what it means when not. */
enum sim_end sim_end_of(struct sim *s, enum sim_end otherwise);
/* Who waits for what. */
void sim_waiting(struct sim *s, struct buf *out);

#endif
