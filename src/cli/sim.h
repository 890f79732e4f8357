/*
 * sim: what the parts of `intact sim` share.
 *
 * cmd_sim.c has the options, random runs and what is said at the end;
 * sim_shell.c is the interactive session; verify/schedule.h reads schedules.
 */
#ifndef INTACT_CLI_SIM_H
#define INTACT_CLI_SIM_H

#include "cli/model.h"
#include "cli/outputs.h"
#include "report/simulated.h"
#include "report/step_text.h"
#include "verdict/run.h"
#include "verify/schedule.h"

enum sim_until { UNTIL_END, UNTIL_QUIESCENT, UNTIL_FAULT };

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

/* ---- the session (sim_shell.c) ------------------------------------------ */

void sim_shell(struct sim *s);

/* ---- shared by them (cmd_sim.c) ----------------------------------------- */

/* The run so far, as the options want it. */
void sim_trace(struct sim *s, struct buf *out);
/* Whether anything can move, and what it means when not. */
enum sim_end sim_end_of(struct sim *s, enum sim_end otherwise);
#endif
