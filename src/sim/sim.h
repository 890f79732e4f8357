/*
 * sim: a run of a model: at random, by a schedule (verify/schedule.h), or by hand (src/cli/sim_shell.c), and what is said
 * of it at the end.
 */
#ifndef INTACT_SIM_SIM_H
#define INTACT_SIM_SIM_H

#include "base/opts.h"
#include "report/simulated.h"
#include "report/step_text.h"
#include "verdict/run.h"
#include "verify/schedule.h"

enum sim_until { UNTIL_END, UNTIL_QUIESCENT, UNTIL_FAULT };

struct sim {
	const char *path;
	const struct ir *ir;
	struct run run;
	struct rng rng;
	uint64_t seed, steps, runs; /* seed and steps UINT64_MAX: as is usual */
	const char *schedule;
	int trace, until;
	bool interactive, full;
	bool utf8, color;
	unsigned width;
	bool walks;  /* at random, perhaps behind a schedule */
	bool random; /* the steps so far are those of the seed alone */
	bool used_seed;
};

/* What cannot be combined, or NULL. */
const char *sim_wrong(const struct sim *s);
/* Makes the run, which the caller frees (run_free), and takes the steps of the schedule. `fixed`: without a seed the run is
 * always the same one. An exit code: EXIT_HOLDS, or the reason is in `err`. */
int sim_begin(struct sim *s, bool fixed, struct buf *err, bool color_err);
/* Takes the random steps, if any; how it ended. */
enum sim_end sim_run(struct sim *s);
/* The exit code of that. */
int sim_code(const struct sim *s, enum sim_end end);
/* The report; `by_hand`: with the line that steps it interactively. */
void sim_text(struct sim *s, enum sim_end end, bool by_hand, struct buf *out);
/* The document (docs/json.md). */
void sim_json(struct sim *s, enum sim_end end, struct buf *out);

/* The run so far, as the options want it. */
void sim_trace(struct sim *s, struct buf *out);
/* Whether anything can move, and what it means when not. */
enum sim_end sim_end_of(struct sim *s, enum sim_end otherwise);
#endif
