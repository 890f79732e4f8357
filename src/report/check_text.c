#include "report/check_text.h"

#include <stdlib.h>
#include <string.h>

#include "report/check_table.h"
#include "report/object_text.h"
#include "report/serial_run.h"
#include "report/step_text.h"
#include "report/table.h"
#include "verdict/explain.h"
#include "verdict/replay.h"
#include "verdict/schedule_text.h"

void check_text_name(const struct ir *p, uint32_t block, struct buf *out)
{
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

void check_text_halt(const struct ir *p, const struct verdict *v, struct buf *out)
{
	buf_str(out, "No serial order of the same blocks terminates");
	if (!v->halt) {
		buf_char(out, '.');
		return;
	}
	uint32_t node = ir_node_of(p, v->halt, v->halt_thread);
	const struct ir_node *n = &p->nodes[node];
	buf_str(out, ": ");
	check_text_name(p, n->block, out);
	buf_printf(out, ", run without interference, %s at line %u: ",
	           v->problem == PROBLEM_STUCK ? "waits forever" : "loops forever, for example",
	           text_line(p, node));
	struct buf what;
	buf_init(&what);
	ir_print_node(p, node, &what);
	buf_safe(out, buf_cstr(&what), what.len);
	buf_free(&what);
	for (uint32_t i = 0, shown = 0; i < n->naccess && shown < 4; i++) {
		const struct ir_access *a = &p->accesses[n->access + i];
		if (a->index == IR_NONE && p->vars[a->var].len > 1)
			continue;
		uint32_t elem = p->vars[a->var].len > 1 ? a->index : 0;
		buf_str(out, shown++ ? ", " : " (");
		text_variable(p, a->var, elem, out);
		buf_str(out, " is ");
		text_value(p, a->var, v->halt[p->vars[a->var].slot + elem], out);
		if (i + 1 == n->naccess || shown == 4)
			buf_char(out, ')');
	}
	buf_char(out, '.');
}

enum { SERIAL_ENDS = 16 };  /* in words */
enum { NOTED_STEPS = 300 }; /* longer runs get no serial values beside them */

/* ---- counterexamples ---------------------------------------------------- */

/* Does the slot differ from the run's end in some serial order? */
static bool slot_differs(const struct ir *p, const struct verdict *v, const int32_t *end, uint32_t s)
{
	for (uint32_t i = 0; i < v->nserial; i++)
		if (v->serial[(size_t)i * p->nstate + s] != end[s])
			return true;
	return false;
}

/* "count = 1, flag = false": those shared variables of a state. */
static uint32_t telling_values(const struct ir *p, const struct verdict *v, const int32_t *end,
                               const int32_t *state, struct buf *out)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < p->nvars; i++)
		for (uint32_t k = 0; k < p->vars[i].len; k++) {
			uint32_t s = p->vars[i].slot + k;
			if (!slot_differs(p, v, end, s))
				continue;
			if (n++)
				buf_str(out, ", ");
			text_variable(p, i, k, out);
			buf_str(out, " = ");
			text_value(p, i, state[s], out);
		}
	return n;
}

/* " finished", " at 12:5 (read x in v = x)" */
static void stands(const struct ir *p, uint32_t node, struct buf *out)
{
	const struct ir_node *n = &p->nodes[node];
	struct source_pos at = source_pos(p->src, n->span.start);
	struct buf what;
	if (n->kind == IRN_END) {
		buf_str(out, " finished");
		return;
	}
	buf_init(&what);
	ir_print_node(p, node, &what);
	buf_printf(out, " at %u:%u (", at.line, at.column);
	buf_safe(out, buf_cstr(&what), what.len);
	buf_char(out, ')');
	buf_free(&what);
}

/* Locals that differ from those of serial orders, or where threads are. */
static uint32_t telling_locals(const struct ir *p, const struct verdict *v, const int32_t *end, const int32_t *state,
                               uint32_t n, struct buf *out)
{
	uint32_t seen[32];
	for (uint32_t t = 0; t < p->nthreads; t++) {
		uint32_t frame = p->threads[t].frame, count = text_visible_in(p, state, t, seen, 32);
		struct buf name;
		buf_init(&name);
		ir_print_thread(p, t, &name);
		if (slot_differs(p, v, end, frame)) {
			buf_str(out, n++ ? ", " : "");
			buf_safe(out, buf_cstr(&name), name.len);
			stands(p, ir_node_of(p, state, t), out);
		}
		for (uint32_t i = 0; i < count && i < 32; i++) {
			const struct ir_local *l = &p->locals[seen[i]];
			for (uint32_t k = 0; k < l->len; k++) {
				struct run_local one = { seen[i], k, state[frame + l->slot + k] };
				if (!slot_differs(p, v, end, frame + l->slot + k))
					continue;
				buf_str(out, n++ ? ", " : "");
				buf_safe(out, buf_cstr(&name), name.len);
				buf_char(out, '.');
				text_local(p, &one, out);
			}
		}
		buf_free(&name);
	}
	return n;
}

/* What of the state is not the same in the run's end and all serial ends. */
static void telling(const struct ir *p, const struct verdict *v, const int32_t *end, const int32_t *state, struct buf *out)
{
	uint32_t n = telling_values(p, v, end, state, out);
	telling_locals(p, v, end, state, n, out);
}

/* The thread whose values without a name (a part of an expression) are others than in this serial end; IR_NONE. */
static uint32_t unnamed_differs(const struct ir *p, const int32_t *end, const int32_t *serial)
{
	for (uint32_t t = 0; t < p->nthreads; t++) {
		uint32_t frame = p->threads[t].frame;
		if (memcmp(end + frame, serial + frame, p->templates[p->threads[t].tmpl].nslots * sizeof *end))
			return t;
	}
	return IR_NONE;
}

/* The serial ends as text, each once; `mine` is the run's. */
static void list_ends(const struct ir *p, const struct verdict *v, const int32_t *end, const char *mine, struct buf *out)
{
	struct buf got[SERIAL_ENDS];
	uint32_t n = 0, same = IR_NONE;
	for (uint32_t i = 0; i < v->nserial && i < SERIAL_ENDS; i++) {
		const int32_t *state = v->serial + (size_t)i * p->nstate;
		bool known = false;
		buf_init(&got[n]);
		telling(p, v, end, state, &got[n]);
		for (uint32_t k = 0; k < n; k++)
			known |= !strcmp(buf_cstr(&got[k]), buf_cstr(&got[n]));
		if (!strcmp(buf_cstr(&got[n]), mine))
			same = unnamed_differs(p, end, state);
		if (known)
			buf_free(&got[n]);
		else
			n++;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (v->nserial_all == 1 || (n == 1 && v->nserial_all == v->nserial))
			buf_printf(out, "Every serial order of the same blocks ends with %s.\n", buf_cstr(&got[i]));
		else
			buf_printf(out, "%s with %s.\n", i ? "                                 or" : "Serial orders of the same blocks end",
			           buf_cstr(&got[i]));
		buf_free(&got[i]);
	}
	if (v->nserial_all > v->nserial)
		buf_printf(out, "... and %u more\n", v->nserial_all - v->nserial);
	if (same != IR_NONE) {
		buf_str(out, "Where these are the same, ");
		text_who(p, same, out);
		buf_str(out, " continues with a different intermediate result.\n");
	}
}

static void serial_ends(struct run *r, const struct verdict *v, struct buf *out)
{
	const int32_t *end = run_state(r, r->nsteps);
	if (!v->serial)
		return; /* too large to find out */
	if (!v->nserial) {
		buf_str(out, "No serial order of the same blocks is possible at all: in each of them some thread "
		             "reaches a different place or is blocked.\n");
		return;
	}
	struct buf mine;
	buf_init(&mine);
	telling(r->ir, v, end, end, &mine);
	if (mine.len) {
		buf_printf(out, "It ends with %s.\n", buf_cstr(&mine));
		list_ends(r->ir, v, end, buf_cstr(&mine), out);
	} else {
		uint32_t who = unnamed_differs(r->ir, end, v->serial);
		buf_str(out, "No serial order of the same blocks ends in this state");
		if (who != IR_NONE) {
			buf_str(out, ": ");
			text_who(r->ir, who, out);
			buf_str(out, " continues with a different intermediate result");
		}
		buf_str(out, ".\n");
	}
	buf_free(&mine);
}

static void say_fault(struct run *r, const struct check_text_options *o, struct buf *out)
{
	struct ir_effect e = run_fault(r);
	const struct ir *p = r->ir;
	struct source_pos at = source_pos(p->src, p->spans[e.fault_ins].start);
	buf_safe(out, p->src->name, strlen(p->src->name));
	buf_printf(out, ":%u:%u: ", at.line, at.column);
	ir_print_fault(p, &e, out);
	buf_char(out, '\n');
	(void)o;
}

/* "can go on at line 12, inside worker.update" */
static void say_place(const struct run *r, uint32_t thread, struct buf *out)
{
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
	uint32_t n = 0;
	for (uint32_t i = 0; i < r->nsteps; i++) {
		uint32_t b = r->steps[i].entered, others = 0;
		if (b == IR_NONE || (block != VERDICT_PROGRAM && b != block))
			continue;
		struct buf name;
		buf_init(&name);
		ir_print_thread(r->ir, r->steps[i].thread, &name);
		for (uint32_t k = 0; k < r->nsteps; k++)
			others += r->steps[k].thread == r->steps[i].thread &&
			          r->steps[k].entered != IR_NONE && r->steps[k].entered != b;
		if (others)
			buf_printf(&name, ".%s", r->ir->blocks[b].name);
		buf_str(out, n++ ? ", then " : "");
		buf_safe(out, buf_cstr(&name), name.len);
		buf_free(&name);
	}
	return n;
}

/* What a serial order would have given, step by step; false: nothing to show. */
static bool beside(const struct run *r, const struct verdict *v, const struct glyphs *g,
                   char **notes, struct buf *order)
{
	bool any = false;
	for (int at_entry = 0; at_entry < 2 && !any; at_entry++) {
		struct run there;
		if (serial_run(r, v->block, !at_entry, &there)) {
			any = serial_notes(r, v->block, &there, g, notes);
			buf_clear(order);
			if (order_text(&there, v->block, order) < 2)
				buf_clear(order); /* nothing to put in order */
		}
		run_free(&there);
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

static void draw_history(const struct run *r, const struct verdict *v, const struct check_text_options *o,
                         struct buf *out)
{
	struct object_history h;
	buf_char(out, '\n');
	if (object_history_init(&h, r, v->object1 - 1))
		object_draw(&h, o->width, o->utf8, out);
	object_history_free(&h);
}

static void counterexample(const struct ir *p, const struct verdict *v,
                           const struct check_text_options *o, struct buf *out)
{
	struct run r;
	struct buf text, order;
	bool *marks = NULL, serially = false;
	char **notes = NULL;
	buf_init(&text);
	buf_init(&order);
	buf_char(out, '\n');
	check_paint(out, o->color, check_color(v), check_headline(v));
	buf_str(out, ": ");
	if (v->object1) {
		buf_str(out, "object ");
		buf_safe(out, p->objects[v->object1 - 1].name, strlen(p->objects[v->object1 - 1].name));
	} else {
		check_text_name(p, v->block, out);
	}
	if (v->problem == PROBLEM_HISTORY)
		buf_printf(out, " (%s: a run of %u steps whose history is not %s)", v->engine->name, v->npath, v->condition);
	else if (v->problem == PROBLEM_ATOMICITY)
		buf_printf(out, " (%s: a run of %u steps that no serial order explains)", v->engine->name, v->npath);
	else
		buf_printf(out, " (after %u steps)", v->npath);
	buf_char(out, '\n');
	if (!run_init(&r, p) || !replay(&r, v->path, v->npath)) {
		buf_str(out, "(the counterexample could not be replayed: this is a bug in intact)\n");
	} else {
		marks = calloc(r.nsteps + 1, sizeof *marks);
		if (v->problem == PROBLEM_ATOMICITY && marks && explain_run(&r, v->block, marks, &text)) {
			buf_printf(out, "%s.\n", buf_cstr(&text));
		}
		if (v->problem == PROBLEM_STUCK || v->problem == PROBLEM_ENDLESS) {
			check_text_halt(p, v, out);
			buf_char(out, '\n');
		}
		if (v->why)
			buf_printf(out, "%s\n", v->why);
		if (v->problem == PROBLEM_FAULT)
			say_fault(&r, o, out);
		if (v->problem == PROBLEM_HISTORY)
			draw_history(&r, v, o, out);
		buf_char(out, '\n');
		struct table_options to = { .width = o->width, .utf8 = o->utf8, .color = o->color,
			                    .max_rows = o->max_rows, .full = "--full", .marks = marks };
		notes = calloc((size_t)r.nsteps + 1, sizeof *notes);
		if (v->problem == PROBLEM_ATOMICITY && notes && r.nsteps <= NOTED_STEPS)
			serially = beside(&r, v, glyphs_for(o->utf8), notes, &order);
		if (serially) {
			to.note_title = "serially";
			to.notes = (const char *const *)notes;
		}
		table_render(&r, &to, out);
		buf_char(out, '\n');
		if (serially)
			buf_printf(out, "serially: the same%s%s, each block without interruption\n",
			           order.len ? " in the order " : "", buf_cstr(&order));
		if (v->problem == PROBLEM_ATOMICITY || v->problem == PROBLEM_COMMIT)
			serial_ends(&r, v, out);
		if (v->problem == PROBLEM_QUIESCENCE)
			buf_str(out, "From here on, some thread is inside a block in every reachable state:\n");
		if (v->problem == PROBLEM_DEADLOCK || v->problem == PROBLEM_QUIESCENCE)
			say_waits(&r, out);
		buf_str(out, "replay: intact sim ");
		buf_safe(out, o->model, strlen(o->model));
		other_counts(p, out);
		buf_str(out, " --schedule ");
		schedule_text(&r, out);
		buf_char(out, '\n');
	}
	for (uint32_t i = 0; notes && i < r.nsteps; i++)
		free(notes[i]);
	free(notes);
	free(marks);
	buf_free(&text);
	buf_free(&order);
	run_free(&r);
}

static bool same_path(const struct verdict *a, const struct verdict *b)
{
	return a->npath == b->npath && a->problem == b->problem &&
	       !memcmp(a->path, b->path, sizeof *a->path * a->npath);
}

/* Is it that no serial order ends like the run? */
static bool about_serial(enum problem p)
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

void check_text(const struct ir *p, const struct verdict *v, uint32_t n,
                const struct check_text_options *o, struct buf *out)
{
	const struct verdict *whole = program_violation(v, n);
	bool others = false;
	(o->matrix ? check_matrix : check_table)(p, v, n, o, out);
	for (uint32_t i = 0; i < n; i++) {
		if (!v[i].path)
			continue;
		bool own = !whole || &v[i] == whole || !about_serial(v[i].problem);
		if (own)
			counterexample(p, &v[i], o, out);
		else if (!same_path(&v[i], whole))
			others = true;
	}
	if (!others)
		return;
	buf_str(out, "\nBlocks that are not atomic alone have separate runs:\n");
	for (uint32_t i = 0; i < n; i++) {
		if (!v[i].path || v[i].block == VERDICT_PROGRAM || !about_serial(v[i].problem) ||
		    same_path(&v[i], whole))
			continue;
		buf_str(out, "  intact check --block ");
		check_text_name(p, v[i].block, out);
		buf_char(out, ' ');
		buf_safe(out, o->model, strlen(o->model));
		other_counts(p, out);
		buf_char(out, '\n');
	}
}
