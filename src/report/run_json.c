#include "report/run_json.h"

#include <string.h>

#include "base/invariant.h"
#include "report/step_text.h"
#include "verdict/replay.h"

/* Booleans and numbers as such, enumerators and locks as words. */
static void value(const struct ir *p, const char *key, enum ir_value_kind kind, uint32_t enum_id, int32_t v, struct json_out *j)
{
	struct buf text;
	buf_init(&text);
	ir_print_value(p, kind, enum_id, v, &text);
	if (kind == IR_VALUE_ENUM || kind == IR_VALUE_LOCK)
		json_text_buf(j, key, &text);
	else
		buf_str(json_value(j, key), buf_cstr(&text));
	buf_free(&text);
}

static void var_value(const struct ir *p, const char *key, uint32_t var, int32_t v, struct json_out *j)
{
	assert(var < p->nvars);
	value(p, key, p->vars[var].value, p->vars[var].enum_id, v, j);
}

static void variable(const struct ir *p, uint32_t var, uint32_t elem, struct json_out *j)
{
	assert(var < p->nvars && elem < p->vars[var].len);
	json_text(j, "variable", p->vars[var].name);
	if (p->vars[var].is_array)
		json_uint(j, "index", elem);
	if (!p->vars[var].shape)
		return;
	struct buf text;
	buf_init(&text);
	ir_print_element(&p->vars[var], elem, "", &text);
	json_text(j, "element", buf_cstr(&text)); /* as the model writes it */
	buf_free(&text);
}

/* ---- steps -------------------------------------------------------------- */

static void accesses(const struct run *r, const struct run_step *s, struct json_out *j)
{
	assert(s->event + s->nevent <= r->nevents);
	json_begin_array(j, "accesses");
	for (uint32_t i = 0; i < s->nevent; i++) {
		const struct ir_event *e = &r->events[s->event + i];
		json_begin_object(j, NULL);
		json_text(j, "mode", ir_mode_name(e->mode));
		variable(r->ir, e->var, e->elem, j);
		if (e->mode != IRA_READ_INV) {
			var_value(r->ir, "before", e->var, e->before, j);
			var_value(r->ir, "after", e->var, e->after, j);
		}
		json_end(j);
	}
	json_end(j);
	json_flag(j, "accesses_cut", s->cut);
}

static void changes(const struct run *r, const struct run_step *s, struct json_out *j)
{
	assert(s->change + s->nchange <= r->nchanges);
	json_begin_array(j, "changes");
	for (uint32_t i = 0; i < s->nchange; i++) {
		const struct run_change *c = &r->changes[s->change + i];
		json_begin_object(j, NULL);
		variable(r->ir, c->var, c->elem, j);
		var_value(r->ir, "before", c->var, c->before, j);
		var_value(r->ir, "after", c->var, c->after, j);
		json_end(j);
	}
	json_end(j);
}

/* Named locals that the step gave a value. */
static void local_values(const struct run *r, const struct run_step *s, struct json_out *j)
{
	assert(s->local + s->nlocal <= r->nlocals);
	if (!s->nlocal)
		return;
	json_begin_array(j, "locals");
	for (uint32_t i = 0; i < s->nlocal; i++) {
		const struct run_local *x = &r->locals[s->local + i];
		const struct ir_local *l = &r->ir->locals[x->local];
		json_begin_object(j, NULL);
		json_text(j, "name", l->name);
		if (l->is_array)
			json_uint(j, "index", x->elem);
		value(r->ir, "value", l->value, l->enum_id, x->value, j);
		json_end(j);
	}
	json_end(j);
}

/* `has`: there is an argument or a result, called `what`. */
static void operation(const struct ir *p, const char *key, uint32_t oper, bool has, const char *what, int32_t v, struct json_out *j)
{
	if (oper == IR_NONE)
		return;
	const struct ir_object *o = &p->objects[p->opers[oper].object];
	json_begin_object(j, key);
	json_text(j, "object", o->name);
	json_text(j, "method", p->opers[oper].method);
	if (has)
		value(p, what, o->value, o->enum_id, v, j);
	json_end(j);
}

static void boundaries(const struct ir *p, const struct run_step *s, struct json_out *j)
{
	const struct {
		const char *name;
		uint32_t block;
	} all[] = {
		{ "entered", s->entered },
		{ "left", s->exited },
		{ "committed", s->committed },
	};
	uint32_t inside = p->nodes[s->node].block;
	json_text_or_null(j, "block", inside == IR_NONE ? NULL : p->blocks[inside].name);
	for (int i = 0; i < 3; i++)
		if (all[i].block != IR_NONE)
			json_text(j, all[i].name, p->blocks[all[i].block].name);
}

static void fault(const struct run *r, const struct run_step *s, struct json_out *j)
{
	assert(s->fault != IRF_NONE && s == &r->steps[r->nsteps - 1]);
	struct ir_effect eff = run_fault(r);
	struct source_pos at = source_pos(r->ir->src, r->ir->spans[s->fault_ins].start);
	struct buf text;
	buf_init(&text);
	ir_print_fault(r->ir, &eff, &text);
	json_begin_object(j, "fault");
	json_text(j, "kind", ir_fault_name(s->fault));
	json_uint(j, "line", at.line);
	json_uint(j, "column", at.column);
	json_text_buf(j, "text", &text);
	json_end(j);
	buf_free(&text);
}

static void step(const struct run *r, uint32_t i, struct json_out *j)
{
	assert(i < r->nsteps);
	const struct run_step *s = &r->steps[i];
	const struct ir *p = r->ir;
	struct source_pos at = source_pos(p->src, p->nodes[s->node].span.start);
	struct buf text;
	buf_init(&text);
	text_step(r, i, glyphs_for(false), &text);
	json_begin_object(j, NULL);
	json_uint(j, "step", i + 1);
	json_uint(j, "thread", s->thread + 1);
	if (s->npick) {
		json_begin_array(j, "choice");
		for (uint32_t k = 0; k < s->npick; k++)
			json_uint(j, NULL, r->picks[s->pick + k] + 1);
		json_end(j);
	}
	json_uint(j, "line", at.line);
	json_uint(j, "column", at.column);
	json_text_buf(j, "text", &text);
	boundaries(p, s, j);
	accesses(r, s, j);
	changes(r, s, j);
	local_values(r, s, j);
	operation(p, "invoked", s->invoked, s->invoked != IR_NONE && p->opers[s->invoked].nargs, "argument", s->arg, j);
	operation(p, "answered", s->responded, s->responded != IR_NONE && p->opers[s->responded].has_result, "result", s->result,
	          j);
	json_flag(j, "stuck", s->stuck);
	if (s->fault != IRF_NONE)
		fault(r, s, j);
	json_end(j);
	buf_free(&text);
}

/* ---- the state ---------------------------------------------------------- */

static void shared(const struct ir *p, const int32_t *state, struct json_out *j)
{
	for (uint32_t v = 0; v < p->nvars; v++) {
		const struct ir_var *var = &p->vars[v];
		if (var->is_array)
			json_begin_array(j, var->name);
		for (uint32_t i = 0; i < var->len; i++)
			var_value(p, var->is_array ? NULL : var->name, v, state[var->slot + i], j);
		if (var->is_array)
			json_end(j);
	}
}

#define MAX_LOCALS 256u

/* `"name": value` of a local, in this frame. */
static void local(const struct ir *p, uint32_t id, const char *name, const int32_t *f, struct json_out *j)
{
	assert(id < p->nlocals && p->locals[id].slot != IR_NONE);
	const struct ir_local *l = &p->locals[id];
	if (l->is_array)
		json_begin_array(j, name);
	for (uint32_t i = 0; i < l->len; i++)
		value(p, l->is_array ? NULL : name, l->value, l->enum_id, f[l->slot + i], j);
	if (l->is_array)
		json_end(j);
}

void run_json_end(const struct ir *p, const int32_t *state, const char *key, struct json_out *j)
{
	struct buf name;
	uint32_t ids[MAX_LOCALS];
	buf_init(&name);
	json_begin_object(j, key);
	shared(p, state, j);
	for (uint32_t t = 0; t < p->nthreads; t++) {
		uint32_t n = text_visible_in(p, state, t, ids, MAX_LOCALS);
		for (uint32_t k = 0; k < n && k < MAX_LOCALS; k++) {
			buf_clear(&name);
			ir_print_thread(p, t, &name);
			buf_printf(&name, ".%s", p->locals[ids[k]].name);
			local(p, ids[k], buf_cstr(&name), state + p->threads[t].frame, j);
		}
	}
	json_end(j);
	buf_free(&name);
}

static void thread_state(const struct run *r, uint32_t t, struct json_out *j)
{
	assert(t < r->ir->nthreads);
	const struct ir *p = r->ir;
	const struct ir_node *n = &p->nodes[ir_node_of(p, run_now(r), t)];
	const int32_t *f = run_now(r) + p->threads[t].frame;
	uint32_t ids[MAX_LOCALS], seen = text_visible(r, t, ids, MAX_LOCALS);
	json_begin_object(j, NULL);
	json_uint(j, "thread", t + 1);
	if (n->kind == IRN_END)
		json_bool(j, "finished", true);
	else
		json_uint(j, "line", source_pos(p->src, n->span.start).line);
	json_flag(j, "stuck", n->kind == IRN_STUCK);
	json_text_or_null(j, "block", n->block == IR_NONE ? NULL : p->blocks[n->block].name);
	json_begin_object(j, "locals");
	for (uint32_t k = 0; k < seen && k < MAX_LOCALS; k++)
		local(p, ids[k], p->locals[ids[k]].name, f, j);
	json_end(j);
	json_end(j);
}

static void state(const struct run *r, struct json_out *j)
{
	json_begin_object(j, "state");
	json_begin_object(j, "shared");
	shared(r->ir, run_now(r), j);
	json_end(j);
	json_line(j, 4);
	json_begin_array(j, "threads");
	for (uint32_t t = 0; t < r->ir->nthreads; t++) {
		json_line(j, 6);
		thread_state(r, t, j);
	}
	json_line(j, 4);
	json_end(j);
	json_end(j);
}

void run_json(const struct run *r, struct json_out *j)
{
	const struct ir *p = r->ir;
	struct buf schedule;
	json_line(j, 2);
	json_begin_array(j, "threads");
	for (uint32_t t = 0; t < p->nthreads; t++) {
		json_line(j, 4);
		json_begin_object(j, NULL);
		json_uint(j, "number", t + 1);
		json_text(j, "name", p->templates[p->threads[t].tmpl].name);
		json_uint(j, "index", p->threads[t].index);
		json_end(j);
	}
	json_line(j, 2);
	json_end(j);
	buf_init(&schedule);
	schedule_text(r, &schedule);
	json_line(j, 2);
	json_text_buf(j, "schedule", &schedule);
	buf_free(&schedule);
	json_line(j, 2);
	json_begin_array(j, "steps");
	for (uint32_t i = 0; i < r->nsteps; i++) {
		json_line(j, 4);
		step(r, i, j);
	}
	if (r->nsteps)
		json_line(j, 2);
	json_end(j);
	json_line(j, 2);
	state(r, j);
}

json_t *run_json_value(const struct run *r)
{
	struct buf text;
	struct json_out j;
	buf_init(&text);
	json_out_init(&j, &text, true);
	json_begin_object(&j, NULL);
	run_json(r, &j);
	json_end(&j);
	json_t *value = text.failed ? NULL : json_loadb(text.data, text.len, 0, NULL);
	buf_free(&text);
	return value;
}
