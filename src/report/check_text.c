#include "report/check_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "report/serial_run.h"
#include "report/step_text.h"
#include "report/table.h"
#include "verdict/object_history.h"
#include "verdict/replay.h"

void check_text_name(const struct ir *p, uint32_t block, struct buf *out)
{
	assert(block == VERDICT_PROGRAM || block < p->nblocks);
	if (block == VERDICT_PROGRAM) {
		buf_str(out, "program");
		return;
	}
	const struct ir_block *b = &p->blocks[block];
	const char *t = p->templates[b->tmpl].name;
	buf_safe(out, t, strlen(t));
	buf_char(out, '.');
	buf_safe(out, b->name, strlen(b->name));
}

enum { NOTED_STEPS = 300 }; /* longer runs get no serial values beside them */

/* ---- counterexamples ---------------------------------------------------- */

static void say_fault(const struct run *r, struct buf *out)
{
	assert(run_faulted(r));
	struct ir_effect e = run_fault(r);
	const struct ir *p = r->ir;
	struct source_pos at = source_pos(p->src, p->spans[e.fault_ins].start);
	buf_safe(out, p->src->name, strlen(p->src->name));
	buf_printf(out, ":%u:%u: ", at.line, at.column);
	ir_print_fault(p, &e, out);
	buf_char(out, '\n');
}

/* "can go on at line 12, inside worker.update" */
static void say_place(const struct run *r, uint32_t thread, struct buf *out)
{
	assert(thread < r->ir->nthreads);
	uint32_t node = ir_node_of(r->ir, run_now(r), thread);
	buf_printf(out, "can go on at line %u, ", text_line(r->ir, node));
	if (r->ir->nodes[node].block == IR_NONE) {
		buf_str(out, "outside");
		return;
	}
	buf_str(out, "inside ");
	check_text_name(r->ir, r->ir->nodes[node].block, out);
}

static void say_waits(struct run *r, struct buf *out)
{
	for (uint32_t t = 0; t < r->ir->nthreads; t++) {
		if (r->ir->nodes[ir_node_of(r->ir, run_now(r), t)].kind == IRN_END)
			continue;
		buf_str(out, "  ");
		text_thread(r->ir, t, out);
		buf_char(out, ' ');
		if (run_enabled(r, t))
			say_place(r, t, out);
		else
			text_wait(r, t, out);
		buf_char(out, '\n');
	}
}

/* "worker 2, then worker 1": whose blocks, and which when a thread has several */
static uint32_t order_text(const struct run *r, uint32_t block, struct buf *out)
{
	assert(block == VERDICT_PROGRAM || block < r->ir->nblocks);
	uint32_t n = 0;
	for (uint32_t i = 0; i < r->nsteps; i++) {
		uint32_t b = r->steps[i].entered, others = 0;
		if (b == IR_NONE || (block != VERDICT_PROGRAM && b != block))
			continue;
		struct buf name;
		buf_init(&name);
		ir_print_thread(r->ir, r->steps[i].thread, &name);
		for (uint32_t k = 0; k < r->nsteps; k++)
			others += r->steps[k].thread == r->steps[i].thread && r->steps[k].entered != IR_NONE &&
			          r->steps[k].entered != b;
		if (others)
			buf_printf(&name, ".%s", r->ir->blocks[b].name);
		buf_str(out, n++ ? ", then " : "");
		buf_safe(out, buf_cstr(&name), name.len);
		buf_free(&name);
	}
	return n;
}

/* What a serial order would have given, step by step; false: nothing to show. */
static bool beside(const struct story *s, const struct verdict *v, const struct glyphs *g, char **notes, struct buf *order)
{
	bool any = false;
	for (int k = 1; k >= 0 && !any; k--) {
		if (!s->possible[k])
			continue;
		any = serial_notes(&s->run, v->block, &s->serial[k], g, notes);
		buf_clear(order);
		if (order_text(&s->serial[k], v->block, order) < 2)
			buf_clear(order); /* nothing to put in order */
	}
	return any;
}

/* " --threads worker=4", where there are others than declared */
static void other_counts(const struct ir *p, struct buf *out)
{
	for (uint32_t t = 0; t < p->ntemplates; t++)
		if (p->templates[t].count != p->templates[t].declared)
			buf_printf(out, " --threads %s=%u", p->templates[t].name, p->templates[t].count);
}

static void draw_history(const struct run *r, const struct verdict *v, const struct check_text_options *o, struct buf *out)
{
	assert(v->object1 && v->object1 <= r->ir->nobjects);
	struct object_history h;
	buf_char(out, '\n');
	if (object_history_init(&h, r, v->object1 - 1))
		object_draw(&h, o->width, o->utf8, out);
	object_history_free(&h);
}

static void title(const struct ir *p, const struct verdict *v, const struct check_text_options *o, struct buf *out)
{
	assert(v->answer == ANSWER_VIOLATED);
	buf_char(out, '\n');
	check_paint(out, o->color, check_color(v), check_headline(v));
	buf_str(out, ": ");
	if (v->object1) {
		buf_str(out, "object ");
		buf_safe(out, p->objects[v->object1 - 1].name, strlen(p->objects[v->object1 - 1].name));
	} else if (v->property1) {
		const char *text = p->properties[v->property1 - 1].text;
		buf_safe(out, text, strlen(text));
	} else {
		check_text_name(p, v->block, out);
	}
	if (v->problem == PROBLEM_HISTORY)
		buf_printf(out, " (%s: a run of %u steps whose history is not %s)", v->engine->name, v->npath, v->condition);
	else if (v->problem == PROBLEM_ATOMICITY)
		buf_printf(out, " (%s: a run of %u steps that no serial order explains)", v->engine->name, v->npath);
	else if (v->npath)
		buf_printf(out, " (after %u step%s)", v->npath, v->npath == 1 ? "" : "s");
	else
		buf_str(out, " (in the initial state)");
	buf_char(out, '\n');
}

/* The table, and beside it what a serial order would have given. */
static void steps(const struct story *s, const struct verdict *v, const struct check_text_options *o, struct buf *out)
{
	assert(s->replayed);
	struct table_options to = {
		.width = o->width, .utf8 = o->utf8, .color = o->color, .max_rows = o->max_rows, .full = "--full", .marks = s->marks
	};
	char **notes = calloc((size_t)s->run.nsteps + 1, sizeof *notes);
	struct buf order;
	bool serially = false;
	buf_init(&order);
	if (v->problem == PROBLEM_ATOMICITY && notes && s->run.nsteps <= NOTED_STEPS)
		serially = beside(s, v, glyphs_for(o->utf8), notes, &order);
	if (serially) {
		to.note_title = "serially";
		to.notes = (const char *const *)notes;
	}
	buf_char(out, '\n');
	table_render(&s->run, &to, out);
	buf_char(out, '\n');
	if (serially)
		buf_printf(out, "serially: the same%s%s, each block without interruption\n", order.len ? " in the order " : "",
		           buf_cstr(&order));
	for (uint32_t i = 0; notes && i < s->run.nsteps; i++)
		free(notes[i]);
	free(notes);
	buf_free(&order);
}

static void counterexample(const struct checked *c, uint32_t i, const struct check_text_options *o, struct buf *out)
{
	assert(i < c->n && c->stories);
	const struct verdict *v = &c->v[i];
	struct story *s = &c->stories[i];
	title(c->p, v, o, out);
	if (!s->replayed) {
		buf_str(out, "(the counterexample could not be replayed: this is a bug in intact)\n");
		return;
	}
	if (s->sentence.len)
		buf_printf(out, "%s\n", buf_cstr(&s->sentence));
	if (v->problem == PROBLEM_FAULT)
		say_fault(&s->run, out);
	if (v->problem == PROBLEM_HISTORY)
		draw_history(&s->run, v, o, out);
	if (s->run.nsteps)
		steps(s, v, o, out);
	buf_add(out, buf_cstr(&s->ends), s->ends.len);
	if (v->problem == PROBLEM_QUIESCENCE)
		buf_str(out, "From here on, some thread is inside a block in every reachable state:\n");
	if (v->problem == PROBLEM_REACH)
		buf_str(out, "The threads there:\n");
	if (v->problem == PROBLEM_DEADLOCK || v->problem == PROBLEM_QUIESCENCE || v->problem == PROBLEM_REACH)
		say_waits(&s->run, out);
	if (!s->run.nsteps)
		return; /* there is nothing to replay */
	buf_str(out, "replay: intact sim ");
	buf_safe(out, c->model, strlen(c->model));
	other_counts(c->p, out);
	buf_str(out, " --schedule ");
	schedule_text(&s->run, out);
	buf_char(out, '\n');
}

static bool same_path(const struct verdict *a, const struct verdict *b)
{
	assert(a->path && b->path);
	return a->npath == b->npath && a->problem == b->problem && !memcmp(a->path, b->path, sizeof *a->path * a->npath);
}

/* Is it that no serial order ends like the run? */
static bool about_serial(enum verdict_problem p)
{
	return p == PROBLEM_ATOMICITY || p == PROBLEM_STUCK || p == PROBLEM_ENDLESS;
}

/* The program's counterexample says it best; a block's own is a command away. */
static const struct verdict *program_violation(const struct verdict *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (v[i].block == VERDICT_PROGRAM && about_serial(v[i].problem) && v[i].path)
			return &v[i];
	return NULL;
}

/* Blocks whose counterexample is not shown: how to see it. */
static void own_runs(const struct checked *c, const struct verdict *whole, struct buf *out)
{
	assert(whole->block == VERDICT_PROGRAM && whole->path);
	bool any = false;
	for (uint32_t i = 0; i < c->n; i++) {
		const struct verdict *v = &c->v[i];
		if (!v->path || v->block == VERDICT_PROGRAM || !about_serial(v->problem) || same_path(v, whole))
			continue;
		if (!any)
			buf_str(out, "\nBlocks that are not atomic alone have separate runs:\n");
		any = true;
		buf_str(out, "  intact check --block ");
		check_text_name(c->p, v->block, out);
		buf_char(out, ' ');
		buf_safe(out, c->model, strlen(c->model));
		other_counts(c->p, out);
		buf_char(out, '\n');
	}
}

static void questions(const struct checked *c, const struct check_text_options *o, struct buf *out)
{
	assert(!c->causality);
	const struct verdict *whole = program_violation(c->v, c->n);
	(c->all ? check_matrix : check_table)(c->p, c->v, c->n, o, out);
	for (uint32_t i = 0; i < c->n; i++)
		if (c->v[i].path && (!whole || &c->v[i] == whole || !about_serial(c->v[i].problem)))
			counterexample(c, i, o, out);
	if (whole)
		own_runs(c, whole, out);
}

/* How many threads there were, when they are more than declared. */
static void say_raised(const struct ir *p, struct buf *out)
{
	bool raised = false;
	for (uint32_t t = 0; t < p->ntemplates; t++)
		raised |= p->templates[t].any_count && p->templates[t].count > p->templates[t].declared;
	if (!raised)
		return;
	buf_str(out, "\nsearched with");
	for (uint32_t t = 0, first = 1; t < p->ntemplates; t++)
		if (p->templates[t].any_count) {
			buf_printf(out, "%s %u ", first ? "" : ",", p->templates[t].count);
			buf_safe(out, p->templates[t].name, strlen(p->templates[t].name));
			first = 0;
		}
	buf_str(out, ", more than declared, to follow up a suspicion of the causal engine\n");
}

void check_text_certified(const struct ir *p, const struct certified_question *q, struct buf *out)
{
	assert(q->about != ABOUT_PROPERTY || q->number < p->nproperties);
	assert(q->about != ABOUT_OBJECT || q->number < p->nobjects);
	switch (q->about) {
	case ABOUT_BLOCK:
		check_text_name(p, q->number, out);
		return;
	case ABOUT_PROGRAM:
		check_text_name(p, VERDICT_PROGRAM, out);
		return;
	case ABOUT_OBJECT:
		buf_str(out, p->objects[q->number].name);
		return;
	case ABOUT_PROPERTY:
		buf_str(out, p->properties[q->number].text);
		return;
	case ABOUT_FAULTS:
	case ABOUT_DEADLOCK:
	case ABOUT_WAY_OUT:
		buf_str(out, q->about == ABOUT_FAULTS ? "faults" : q->about == ABOUT_DEADLOCK ? "deadlock" : "way out");
		return;
	}
}

/* What the certificate covers, and what it does not and why. */
static void say_certificate(const struct checked *c, struct buf *out)
{
	const struct certified *f = c->certificate;
	assert(f && f->n && f->file);
	uint32_t n = 0;
	for (uint32_t i = 0; i < f->n; i++)
		n += f->v[i].certified;
	buf_str(out, "\ncertificate: ");
	buf_safe(out, f->file, strlen(f->file));
	buf_printf(out,
	           ": %u of %u question%s certified (%llu states, %llu bytes, %.2f s; searched without reductions except for "
	           "identical threads)\n",
	           n, f->n, f->n == 1 ? "" : "s", (unsigned long long)f->states, (unsigned long long)f->bytes, f->seconds);
	for (int certified = 1; certified >= 0; certified--)
		for (uint32_t i = 0; i < f->n; i++) {
			if (f->v[i].certified != certified)
				continue;
			buf_str(out, certified ? "  certified      " : "  not certified  ");
			check_text_certified(c->p, &f->v[i], out);
			if (f->v[i].why)
				buf_printf(out, ": %s", f->v[i].why);
			buf_char(out, '\n');
		}
}

void check_text(const struct checked *c, const struct check_text_options *o, struct buf *out)
{
	assert(c->p && (!c->n || (c->v && c->stories)));
	if (c->causality) {
		if (c->n)
			causal_text(c, o, out);
		else
			buf_str(out, "no atomic block\n");
		return;
	}
	if ((c->p->nblocks && !c->faults) || c->n)
		questions(c, o, out);
	else
		buf_printf(out, "%sno %s in any execution\n", c->faults ? "" : "no atomic block; ",
		           c->deadlock ? "fault and no deadlock" : "fault");
	if (o->stats && c->fault_free)
		buf_printf(out, "\nno fault in the %llu states and %llu transitions of the program\n",
		           (unsigned long long)c->states, (unsigned long long)c->transitions);
	say_raised(c->p, out);
	if (c->quiescence && !strcmp(c->quiescence, "unknown"))
		buf_str(out, "\nnot decided: whether threads can always leave their blocks (too many states; --deadlock searches "
		             "further)\n");
	if (c->certificate)
		say_certificate(c, out);
}
