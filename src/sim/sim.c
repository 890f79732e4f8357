/* sim: see sim.h. */
#include "sim/sim.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/console.h"
#include "report/check_json.h"
#include "report/doc.h"
#include "report/run_json.h"
#include "report/table.h"
#include "verdict/schedule_text.h"

#define DEFAULT_STEPS 100u
#define ROWS_SHOWN 100u   /* of a trace, without --full */
#define SHOWN_VALUES 64u  /* array elements and variables in a line */
#define REPLAY_SHOWN 400u /* bytes of a schedule that a line may have */

/* ---- what has happened -------------------------------------------------- */

static void shared_variable(const struct sim *s, uint32_t v, struct buf *out)
{
	const struct ir_var *var = &s->ir->vars[v];
	const int32_t *x = run_now(&s->run) + var->slot;
	buf_safe(out, var->name, strlen(var->name));
	buf_str(out, var->is_array ? " = {" : " = ");
	for (uint32_t i = 0; i < var->len && i < SHOWN_VALUES; i++) {
		buf_str(out, i ? ", " : "");
		text_value(s->ir, v, x[i], out);
	}
	if (var->len > SHOWN_VALUES)
		buf_printf(out, ", %s", glyphs_for(s->utf8)->dots);
	if (var->is_array)
		buf_char(out, '}');
}

void sim_shared_state(const struct sim *s, struct buf *out)
{
	for (uint32_t v = 0; v < s->ir->nvars && v < SHOWN_VALUES; v++) {
		buf_str(out, v ? ", " : "");
		shared_variable(s, v, out);
	}
	if (s->ir->nvars > SHOWN_VALUES)
		buf_printf(out, ", %s", glyphs_for(s->utf8)->dots);
	if (!s->ir->nvars)
		buf_str(out, "(no shared variables)");
}

void sim_trace(struct sim *s, struct buf *out)
{
	struct table_options o = {
		.width = s->width, .utf8 = s->utf8, .color = s->color,
		.list = s->trace == TRACE_LIST, .max_rows = s->full ? 0 : ROWS_SHOWN,
		.full = "--full",
	};
	if (s->trace != TRACE_NONE)
		table_render(&s->run, &o, out);
}

void sim_fault(struct sim *s, struct buf *out)
{
	const struct run *r = &s->run;
	const struct run_step *last = &r->steps[r->nsteps - 1];
	struct ir_effect eff = run_fault(r);
	struct arena a;
	struct diags d;
	struct buf b;
	arena_init(&a, 0);
	diags_init(&d, &a);
	buf_init(&b);
	text_who(s->ir, last->thread, &b);
	buf_str(&b, ": ");
	ir_print_fault(s->ir, &eff, &b);
	diag_error(&d, ir_fault_name(last->fault), s->ir->src, s->ir->spans[last->fault_ins], "%s",
	           buf_cstr(&b));
	d.errors = 0; /* it is a result, not a list that wants a count */
	diags_render(&d, out, s->color);
	buf_free(&b);
	arena_free(&a);
}

enum sim_end sim_end_of(struct sim *s, enum sim_end otherwise)
{
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

void sim_waiting(struct sim *s, struct buf *out)
{
	uint32_t shown = 0, more = 0;
	for (uint32_t t = 0; t < s->ir->nthreads; t++) {
		if (s->ir->nodes[ir_node_of(s->ir, run_now(&s->run), t)].kind == IRN_END)
			continue;
		if (shown >= 24) {
			more++;
			continue;
		}
		shown++;
		buf_str(out, "  ");
		text_who(s->ir, t, out);
		buf_char(out, ' ');
		text_wait(&s->run, t, out);
		buf_char(out, '\n');
	}
	if (more)
		buf_printf(out, "  and %u more threads\n", more);
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
		if (s->until == UNTIL_QUIESCENT && left && ir_quiescent(s->ir, run_now(&s->run)))
			return sim_end_of(s, END_QUIESCENT);
	}
	return sim_end_of(s, END_STEPS);
}

/* Runs until one faults, each with the next seed. */
static enum sim_end hunt(struct sim *s)
{
	enum sim_end end = END_STEPS;
	uint64_t first = s->seed;
	for (uint64_t k = 0; k < s->runs; k++) {
		run_rewind(&s->run, 0);
		s->seed = first + k;
		rng_seed(&s->rng, s->seed);
		end = walk(s);
		if (end == END_FAULT || end == END_MEMORY)
			return end;
	}
	return end;
}

/* ---- the end ------------------------------------------------------------ */

static const char *const end_names[] = {
	"steps", "schedule", "quiescent", "session", "finished", "deadlock", "fault", "memory",
};

static void say_end(struct sim *s, enum sim_end end, struct buf *out)
{
	uint32_t n = s->run.nsteps;
	const char *plural = n == 1 ? "" : "s";
	switch (end) {
	case END_FINISHED:
		buf_printf(out, "%s finished after %u step%s\n",
		           s->ir->nthreads == 1 ? "the thread" : "all threads", n, plural);
		break;
	case END_DEADLOCK:
		buf_printf(out, "deadlock after %u step%s: no thread can move\n", n, plural);
		sim_waiting(s, out);
		break;
	case END_FAULT:
		buf_printf(out, "fault at step %u\n", n);
		sim_fault(s, out);
		break;
	case END_QUIESCENT:
		buf_printf(out, "no thread is inside a block after %u step%s\n", n, plural);
		break;
	case END_STEPS:
		buf_printf(out, "stopped after %u step%s; --steps=N takes more\n", n, plural);
		break;
	case END_MEMORY:
		buf_printf(out, "stopped after %u step%s: memory is spent\n", n, plural);
		break;
	case END_SCHEDULE:
	case END_SESSION:
		buf_printf(out, "%u step%s taken; the threads can go on\n", n, plural);
		break;
	}
}

/* A word as the shell takes it. */
static void shell_word(struct buf *out, const char *word)
{
	if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                                "0123456789_./=:,@%+-")]) {
		buf_str(out, word);
		return;
	}
	buf_char(out, '\'');
	while (*word) {
		size_t n = strcspn(word, "'");
		buf_safe(out, word, n);
		word += n;
		for (; *word == '\''; word++)
			buf_str(out, "'\\''");
	}
	buf_char(out, '\'');
}

static void say_replay(struct sim *s, struct buf *out)
{
	struct buf schedule;
	buf_init(&schedule);
	schedule_text(&s->run, &schedule);
	buf_str(out, "replay: intact sim ");
	shell_word(out, s->path);
	for (int i = 0; i < s->threads.n; i++) {
		buf_str(out, " --threads ");
		shell_word(out, s->threads.items[i]);
	}
	if (s->sml)
		buf_str(out, " --sml");
	if (s->random && schedule.len > REPLAY_SHOWN)
		buf_printf(out, " --seed %llu --steps %u\n", (unsigned long long)s->seed, s->run.nsteps);
	else
		buf_printf(out, " --schedule %s\n", buf_cstr(&schedule));
	buf_free(&schedule);
}

void sim_text(struct sim *s, enum sim_end end, bool by_hand, struct buf *out)
{
	if (!s->interactive) {
		sim_trace(s, out);
		if (s->trace != TRACE_NONE && s->run.nsteps)
			buf_char(out, '\n');
	}
	if (s->until == UNTIL_FAULT && end != END_FAULT)
		buf_printf(out, "no fault in %llu runs of at most %llu steps; the last one:\n",
		           (unsigned long long)s->runs, (unsigned long long)s->steps);
	if (!s->interactive || end != END_FAULT)
		say_end(s, end, out);
	buf_str(out, end == END_FAULT ? "state before that step: " : "final state: ");
	sim_shared_state(s, out);
	buf_char(out, '\n');
	if (s->used_seed)
		buf_printf(out, "seed: %llu\n", (unsigned long long)s->seed);
	if (s->run.nsteps)
		say_replay(s, out);
	if (by_hand && !s->interactive && !s->schedule) {
		buf_str(out, "by hand: intact sim -i ");
		shell_word(out, s->path);
		buf_char(out, '\n');
	}
}

int sim_code(const struct sim *s, enum sim_end end)
{
	if (end == END_MEMORY)
		return EXIT_UNKNOWN;
	if (end != END_FAULT)
		return EXIT_HOLDS;
	return run_fault(&s->run).fault == IRF_LIMIT ? EXIT_UNKNOWN : EXIT_VIOLATED;
}

void sim_json(struct sim *s, enum sim_end end, struct buf *out)
{
	static const char *const word[] = { "holds", "violated", "unknown", "unknown" };
	struct json_out j;
	json_out_init(&j, out, false);
	doc_begin(&j, "sim", 2);
	json_text(&j, "verdict", word[sim_code(s, end)]);
	json_line(&j, 2);
	check_json_model(s->ir, s->path, false, &j);
	json_line(&j, 2);
	if (s->used_seed)
		json_uint(&j, "seed", s->seed);
	json_line(&j, 2);
	json_text(&j, "end", end_names[end]);
	run_json(&s->run, &j);
	json_line(&j, 0);
	doc_end(&j);
}

/* ---- the steps ---------------------------------------------------------- */

static bool take_schedule(struct sim *s, struct buf *err, bool color_err)
{
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
	return EXIT_HOLDS;
}

enum sim_end sim_run(struct sim *s)
{
	enum sim_end end = s->interactive ? END_SESSION : END_SCHEDULE;
	if (s->walks) {
		s->used_seed = true;
		end = s->until == UNTIL_FAULT && !s->schedule ? hunt(s) : walk(s);
	}
	return end == END_MEMORY || end == END_QUIESCENT ? end : sim_end_of(s, end);
}

const char *sim_wrong(const struct sim *s)
{
	if (s->interactive && s->until != UNTIL_END)
		return "--interactive and --until do not go together";
	if (s->schedule && s->until == UNTIL_FAULT)
		return "--schedule and --until=fault do not go together: a schedule is one run";
	if (s->interactive && !strcmp(s->path, "-"))
		return "a model from standard input cannot be stepped interactively";
	return NULL;
}
