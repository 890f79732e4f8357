/* sim: see sim.h. */
#include "sim/sim.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/console.h"
#include "base/invariant.h"

_Static_assert(EXIT_HOLDS == 0 && EXIT_VIOLATED == 1 && EXIT_USAGE == 2 && EXIT_UNKNOWN == 3, "sim_json() has a word for each");

#define DEFAULT_STEPS 100u
#define ROWS_SHOWN    100u /* of a trace, without --full */

/* ---- what has happened -------------------------------------------------- */

static struct sim_text_options text_options(const struct sim *s)
{
	return (struct sim_text_options){ .width = s->width,
		                          .utf8 = s->utf8,
		                          .color = s->color,
		                          .trace = (enum sim_trace)s->trace,
		                          .max_rows = s->full ? 0 : ROWS_SHOWN,
		                          .session = s->interactive };
}

void sim_trace(struct sim *s, struct buf *out)
{
	struct sim_text_options o = text_options(s);
	sim_trace_text(&s->run, &o, out);
}

enum sim_end sim_end_of(struct sim *s, enum sim_end otherwise)
{
	assert(s->run.ir == s->ir);
	bool finished = true;
	if (run_faulted(&s->run))
		return END_FAULT;
	for (uint32_t t = 0; t < s->ir->nthreads; t++)
		if (run_enabled(&s->run, t))
			return otherwise;
	for (uint32_t t = 0; t < s->ir->nthreads; t++)
		finished &= s->ir->nodes[ir_node_of(s->ir, run_now(&s->run), t)].kind == IRN_END;
	return finished ? END_FINISHED : END_DEADLOCK;
}

/* ---- random runs -------------------------------------------------------- */

/* One run of at most `steps` further steps. */
static enum sim_end walk(struct sim *s)
{
	bool left = false;
	for (uint64_t i = 0; i < s->steps; i++) {
		enum run_status st = run_random(&s->run, &s->rng);
		if (st == RUN_FAULT || st == RUN_BLOCKED)
			return sim_end_of(s, END_STEPS);
		if (st != RUN_OK)
			return END_MEMORY;
		left |= s->run.steps[s->run.nsteps - 1].exited != IR_NONE;
		assert(s->run.nsteps);
		if (s->until == UNTIL_QUIESCENT && left && ir_quiescent(s->ir, run_now(&s->run)))
			return sim_end_of(s, END_QUIESCENT);
	}
	return sim_end_of(s, END_STEPS);
}

/* Runs until one faults, each with the next seed. */
static enum sim_end hunt(struct sim *s)
{
	assert(s->until == UNTIL_FAULT && !s->schedule);
	enum sim_end end = END_STEPS;
	uint64_t first = s->seed;
	for (uint64_t k = 0; k < s->runs; k++) {
		run_rewind(&s->run, 0);
		s->seed = first + k;
		rng_seed(&s->rng, s->seed);
		end = walk(s);
		assert(end != END_QUIESCENT);
		if (end == END_FAULT || end == END_MEMORY)
			return end;
	}
	return end;
}

/* ---- the end ------------------------------------------------------------ */

static struct simulated told(const struct sim *s, enum sim_end end)
{
	assert(s->run.ir == s->ir);
	bool hunted = s->until == UNTIL_FAULT;
	return (struct simulated){ .run = &s->run,
		                   .model = s->path,
		                   .end = end,
		                   .used_seed = s->used_seed,
		                   .random = s->random,
		                   .seed = s->seed,
		                   .runs = hunted ? s->runs : 0,
		                   .steps = hunted ? s->steps : 0 };
}

void sim_text(struct sim *s, enum sim_end end, bool by_hand, struct buf *out)
{
	struct simulated t = told(s, end);
	struct sim_text_options o = text_options(s);
	simulated_text(&t, &o, out);
	if (by_hand && !s->interactive && !s->schedule) {
		buf_str(out, "by hand: intact sim -i ");
		sim_shell_word(out, s->path);
		buf_char(out, '\n');
	}
}

int sim_code(const struct sim *s, enum sim_end end)
{
	assert(end != END_FAULT || run_faulted(&s->run));
	if (end == END_MEMORY)
		return EXIT_UNKNOWN;
	if (end != END_FAULT)
		return EXIT_HOLDS;
	return run_fault(&s->run).fault == IRF_LIMIT ? EXIT_UNKNOWN : EXIT_VIOLATED;
}

void sim_json(struct sim *s, enum sim_end end, struct buf *out)
{
	assert(sim_code(s, end) <= EXIT_UNKNOWN);
	static const char *const word[] = { "holds", "violated", "unknown", "unknown" };
	struct simulated t = told(s, end);
	simulated_json(&t, word[sim_code(s, end)], out);
}

/* ---- the steps ---------------------------------------------------------- */

static bool take_schedule(struct sim *s, struct buf *err, bool color_err)
{
	assert(s->schedule);
	struct schedule_list sc;
	sched_init(&sc);
	bool ok = sched_read(&sc, s->ir, s->schedule) && sched_run(&sc, &s->run);
	if (!ok)
		diags_render(&sc.diags, err, color_err);
	sched_free(&sc);
	return ok;
}

static uint64_t fresh_seed(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	uint64_t x = (uint64_t)t.tv_sec * 1000000007u + (uint64_t)t.tv_nsec;
	return rng_mix(&x) % 1000000;
}

int sim_begin(struct sim *s, bool fixed, struct buf *err, bool color_err)
{
	assert(s->ir && s->ir->nthreads);
	if (!run_init(&s->run, s->ir)) {
		buf_str(err, "intact sim: out of memory\n");
		return EXIT_UNKNOWN;
	}
	s->walks = !s->interactive && (!s->schedule || s->steps != UINT64_MAX);
	if (s->schedule && !take_schedule(s, err, color_err))
		return EXIT_USAGE;
	if (s->seed == UINT64_MAX)
		s->seed = fixed ? 1 : fresh_seed();
	if (s->steps == UINT64_MAX)
		s->steps = s->until == UNTIL_FAULT ? 1000 : DEFAULT_STEPS;
	s->random = !s->schedule && !s->interactive;
	rng_seed(&s->rng, s->seed);
	assert(s->steps != UINT64_MAX && s->seed != UINT64_MAX);
	return EXIT_HOLDS;
}

enum sim_end sim_run(struct sim *s)
{
	assert(s->run.ir == s->ir && s->steps != UINT64_MAX); /* after sim_begin() */
	enum sim_end end = s->interactive ? END_SESSION : END_SCHEDULE;
	if (s->walks) {
		s->used_seed = true;
		end = s->until == UNTIL_FAULT && !s->schedule ? hunt(s) : walk(s);
	}
	return end == END_MEMORY || end == END_QUIESCENT ? end : sim_end_of(s, end);
}

const char *sim_wrong(const struct sim *s)
{
	assert(s->path);
	if (s->interactive && s->until != UNTIL_END)
		return "--interactive and --until cannot be combined";
	if (s->schedule && s->until == UNTIL_FAULT)
		return "--schedule and --until=fault cannot be combined: a schedule is one run";
	if (s->interactive && !strcmp(s->path, "-"))
		return "a model from standard input cannot be stepped interactively";
	return NULL;
}
