#include "report/simulated.h"

#include <string.h>

#include "base/diag.h"
#include "report/check_json.h"
#include "report/doc.h"
#include "report/run_json.h"
#include "report/step_text.h"
#include "report/table.h"
#include "verdict/replay.h"

#define SHOWN_VALUES 64u  /* array elements and variables in a line */
#define REPLAY_SHOWN 400u /* bytes of a schedule that a line may have */

static void shared_variable(const struct run *r, uint32_t v, bool utf8, struct buf *out)
{
	const struct ir_var *var = &r->ir->vars[v];
	const int32_t *x = run_now(r) + var->slot;
	buf_safe(out, var->name, strlen(var->name));
	buf_str(out, var->is_array ? " = {" : " = ");
	for (uint32_t i = 0; i < var->len && i < SHOWN_VALUES; i++) {
		buf_str(out, i ? ", " : "");
		text_value(r->ir, v, x[i], out);
	}
	if (var->len > SHOWN_VALUES)
		buf_printf(out, ", %s", glyphs_for(utf8)->dots);
	if (var->is_array)
		buf_char(out, '}');
}

void sim_shared_text(const struct run *r, bool utf8, struct buf *out)
{
	for (uint32_t v = 0; v < r->ir->nvars && v < SHOWN_VALUES; v++) {
		buf_str(out, v ? ", " : "");
		shared_variable(r, v, utf8, out);
	}
	if (r->ir->nvars > SHOWN_VALUES)
		buf_printf(out, ", %s", glyphs_for(utf8)->dots);
	if (!r->ir->nvars)
		buf_str(out, "(no shared variables)");
}

void sim_trace_text(const struct run *r, const struct sim_text_options *o, struct buf *out)
{
	struct table_options to = { .width = o->width,
		                    .utf8 = o->utf8,
		                    .color = o->color,
		                    .list = o->trace == TRACE_LIST,
		                    .max_rows = o->max_rows,
		                    .full = "--full" };
	if (o->trace != TRACE_NONE)
		table_render(r, &to, out);
}

void sim_fault_text(const struct run *r, bool color, struct buf *out)
{
	const struct run_step *last = &r->steps[r->nsteps - 1];
	struct ir_effect eff = run_fault(r);
	struct arena a;
	struct diags d;
	struct buf b;
	arena_init(&a, 0);
	diags_init(&d, &a);
	buf_init(&b);
	text_who(r->ir, last->thread, &b);
	buf_str(&b, ": ");
	ir_print_fault(r->ir, &eff, &b);
	diag_error(&d, ir_fault_name(last->fault), r->ir->src, r->ir->spans[last->fault_ins], "%s", buf_cstr(&b));
	d.errors = 0; /* it is a result, not a list that wants a count */
	diags_render(&d, out, color);
	buf_free(&b);
	arena_free(&a);
}

/* Who waits for what. */
static void waiting(const struct run *r, struct buf *out)
{
	uint32_t shown = 0, more = 0;
	for (uint32_t t = 0; t < r->ir->nthreads; t++) {
		if (r->ir->nodes[ir_node_of(r->ir, run_now(r), t)].kind == IRN_END)
			continue;
		if (shown >= 24) {
			more++;
			continue;
		}
		shown++;
		buf_str(out, "  ");
		text_who(r->ir, t, out);
		buf_char(out, ' ');
		text_wait(r, t, out);
		buf_char(out, '\n');
	}
	if (more)
		buf_printf(out, "  and %u more threads\n", more);
}

/* ---- the end ------------------------------------------------------------ */

const char *const sim_end_names[] = {
	"steps", "schedule", "quiescent", "session", "finished", "deadlock", "fault", "memory", NULL,
};

static void say_end(const struct simulated *s, bool color, struct buf *out)
{
	uint32_t n = s->run->nsteps;
	const char *plural = n == 1 ? "" : "s";
	switch (s->end) {
	case END_FINISHED:
		buf_printf(out, "%s finished after %u step%s\n", s->run->ir->nthreads == 1 ? "the thread" : "all threads", n,
		           plural);
		break;
	case END_DEADLOCK:
		buf_printf(out, "deadlock after %u step%s: no thread can move\n", n, plural);
		waiting(s->run, out);
		break;
	case END_FAULT:
		buf_printf(out, "fault at step %u\n", n);
		sim_fault_text(s->run, color, out);
		break;
	case END_QUIESCENT:
		buf_printf(out, "no thread is inside a block after %u step%s\n", n, plural);
		break;
	case END_STEPS:
		buf_printf(out, "stopped after %u step%s; --steps=N takes more\n", n, plural);
		break;
	case END_MEMORY:
		buf_printf(out, "stopped after %u step%s: out of memory\n", n, plural);
		break;
	case END_SCHEDULE:
	case END_SESSION:
		buf_printf(out, "%u step%s taken; the threads can go on\n", n, plural);
		break;
	}
}

/* A word as the shell takes it. */
void sim_shell_word(struct buf *out, const char *word)
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

/* Other numbers of threads than declared, and a language that the file's name does not say. */
static void model_options(const struct simulated *s, struct buf *out)
{
	const struct ir *p = s->run->ir;
	size_t n = strlen(s->model);
	for (uint32_t t = 0; t < p->ntemplates; t++)
		if (p->templates[t].count != p->templates[t].declared) {
			buf_str(out, " --threads ");
			sim_shell_word(out, p->templates[t].name);
			buf_printf(out, "=%u", p->templates[t].count);
		}
	if (p->sml && (n < 4 || strcmp(s->model + n - 4, ".sml")))
		buf_str(out, " --sml");
}

static void say_replay(const struct simulated *s, struct buf *out)
{
	struct buf schedule;
	buf_init(&schedule);
	schedule_text(s->run, &schedule);
	buf_str(out, "replay: intact sim ");
	sim_shell_word(out, s->model);
	model_options(s, out);
	if (s->random && schedule.len > REPLAY_SHOWN)
		buf_printf(out, " --seed %llu --steps %u\n", (unsigned long long)s->seed, s->run->nsteps);
	else
		buf_printf(out, " --schedule %s\n", buf_cstr(&schedule));
	buf_free(&schedule);
}

void simulated_text(const struct simulated *s, const struct sim_text_options *o, struct buf *out)
{
	bool fault = s->end == END_FAULT;
	if (!o->session) {
		sim_trace_text(s->run, o, out);
		if (o->trace != TRACE_NONE && s->run->nsteps)
			buf_char(out, '\n');
	}
	if (s->runs && !fault)
		buf_printf(out, "no fault in %llu runs of at most %llu steps; the last one:\n", (unsigned long long)s->runs,
		           (unsigned long long)s->steps);
	if (!o->session || !fault)
		say_end(s, o->color, out);
	buf_str(out, fault ? "state before that step: " : "final state: ");
	sim_shared_text(s->run, o->utf8, out);
	buf_char(out, '\n');
	if (s->used_seed)
		buf_printf(out, "seed: %llu\n", (unsigned long long)s->seed);
	if (s->run->nsteps)
		say_replay(s, out);
}

void simulated_json(const struct simulated *s, const char *verdict, struct buf *out)
{
	struct json_out j;
	json_out_init(&j, out, false);
	doc_begin(&j, "sim", 2);
	json_text(&j, "verdict", verdict);
	json_line(&j, 2);
	check_json_model(s->run->ir, s->model, true, &j); /* as `intact sim` reads it */
	json_line(&j, 2);
	if (s->used_seed)
		json_uint(&j, "seed", s->seed);
	json_flag(&j, "random", s->random);
	json_line(&j, 2);
	json_text(&j, "end", sim_end_names[s->end]);
	if (s->runs) {
		json_uint(&j, "runs", s->runs);
		json_uint(&j, "steps_each", s->steps);
	}
	run_json(s->run, &j);
	json_line(&j, 0);
	doc_end(&j);
}
