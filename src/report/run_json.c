#include "report/run_json.h"

#include <string.h>

#include "report/step_text.h"
#include "verdict/schedule_text.h"

static void string(struct buf *out, const char *s)
{
	buf_json(out, s, strlen(s));
}

static void key(struct buf *out, const char *name)
{
	buf_printf(out, ", \"%s\": ", name);
}

static void name_or_null(struct buf *out, const char *name)
{
	if (name)
		string(out, name);
	else
		buf_str(out, "null");
}

/* Booleans and numbers as such, enumerators and locks as words. */
static void value(const struct ir *p, enum ir_value_kind kind, uint32_t enum_id, int32_t v,
                  struct buf *out)
{
	struct buf text;
	buf_init(&text);
	ir_print_value(p, kind, enum_id, v, &text);
	if (kind == IR_VALUE_ENUM || kind == IR_VALUE_LOCK)
		string(out, buf_cstr(&text));
	else
		buf_str(out, buf_cstr(&text));
	buf_free(&text);
}

static void var_value(const struct ir *p, uint32_t var, int32_t v, struct buf *out)
{
	value(p, p->vars[var].value, p->vars[var].enum_id, v, out);
}

static void variable(const struct ir *p, uint32_t var, uint32_t elem, struct buf *out)
{
	buf_str(out, "\"variable\": ");
	string(out, p->vars[var].name);
	if (p->vars[var].is_array)
		buf_printf(out, ", \"index\": %u", elem);
}

/* ---- steps -------------------------------------------------------------- */

static const char *mode_name(uint32_t mode)
{
	switch (mode) {
	case IRA_READ: return "read";
	case IRA_WRITE: return "write";
	case IRA_RMW: return "update";
	case IRA_ACQUIRE: return "acquire";
	case IRA_RELEASE: return "release";
	case IRA_READ_INV: return "begin-read";
	case IRA_READ_RESP: return "end-read";
	case IRA_WRITE_INV: return "begin-write";
	default: return "end-write";
	}
}

static void accesses(const struct run *r, const struct run_step *s, struct buf *out)
{
	key(out, "accesses");
	buf_char(out, '[');
	for (uint32_t i = 0; i < s->nevent; i++) {
		const struct ir_event *e = &r->events[s->event + i];
		buf_printf(out, "%s{\"mode\": \"%s\", ", i ? ", " : "", mode_name(e->mode));
		variable(r->ir, e->var, e->elem, out);
		if (e->mode != IRA_READ_INV) {
			key(out, "before");
			var_value(r->ir, e->var, e->before, out);
			key(out, "after");
			var_value(r->ir, e->var, e->after, out);
		}
		buf_char(out, '}');
	}
	buf_char(out, ']');
	if (s->cut)
		buf_str(out, ", \"accesses_cut\": true");
}

static void changes(const struct run *r, const struct run_step *s, struct buf *out)
{
	key(out, "changes");
	buf_char(out, '[');
	for (uint32_t i = 0; i < s->nchange; i++) {
		const struct run_change *c = &r->changes[s->change + i];
		buf_printf(out, "%s{", i ? ", " : "");
		variable(r->ir, c->var, c->elem, out);
		key(out, "before");
		var_value(r->ir, c->var, c->before, out);
		key(out, "after");
		var_value(r->ir, c->var, c->after, out);
		buf_char(out, '}');
	}
	buf_char(out, ']');
}

/* Named locals that the step gave a value. */
static void local_values(const struct run *r, const struct run_step *s, struct buf *out)
{
	for (uint32_t i = 0; i < s->nlocal; i++) {
		const struct run_local *x = &r->locals[s->local + i];
		const struct ir_local *l = &r->ir->locals[x->local];
		if (i)
			buf_str(out, ", ");
		else
			buf_str(out, ", \"locals\": [");
		buf_str(out, "{\"name\": ");
		string(out, l->name);
		if (l->is_array)
			buf_printf(out, ", \"index\": %u", x->elem);
		key(out, "value");
		value(r->ir, l->value, l->enum_id, x->value, out);
		buf_char(out, '}');
	}
	if (s->nlocal)
		buf_char(out, ']');
}

static void operation(const struct ir *p, uint32_t oper, struct buf *out)
{
	buf_str(out, "{\"object\": ");
	string(out, p->objects[p->opers[oper].object].name);
	key(out, "method");
	string(out, p->opers[oper].method);
}

static void operations(const struct run *r, const struct run_step *s, struct buf *out)
{
	const struct ir *p = r->ir;
	if (s->invoked != IR_NONE) {
		const struct ir_object *o = &p->objects[p->opers[s->invoked].object];
		key(out, "invoked");
		operation(p, s->invoked, out);
		if (p->opers[s->invoked].nargs) {
			key(out, "argument");
			value(p, o->value, o->enum_id, s->arg, out);
		}
		buf_char(out, '}');
	}
	if (s->responded != IR_NONE) {
		const struct ir_object *o = &p->objects[p->opers[s->responded].object];
		key(out, "answered");
		operation(p, s->responded, out);
		if (p->opers[s->responded].has_result) {
			key(out, "result");
			value(p, o->value, o->enum_id, s->result, out);
		}
		buf_char(out, '}');
	}
}

static void boundaries(const struct ir *p, const struct run_step *s, struct buf *out)
{
	const struct { const char *name; uint32_t block; } all[] = {
		{ "entered", s->entered }, { "left", s->exited }, { "committed", s->committed },
	};
	uint32_t inside = p->nodes[s->node].block;
	key(out, "block");
	name_or_null(out, inside == IR_NONE ? NULL : p->blocks[inside].name);
	for (int i = 0; i < 3; i++)
		if (all[i].block != IR_NONE) {
			key(out, all[i].name);
			string(out, p->blocks[all[i].block].name);
		}
}

static void fault(const struct run *r, const struct run_step *s, struct buf *out)
{
	struct ir_effect eff = run_fault(r);
	struct source_pos at = source_pos(r->ir->src, r->ir->spans[s->fault_ins].start);
	struct buf text;
	buf_init(&text);
	ir_print_fault(r->ir, &eff, &text);
	key(out, "fault");
	buf_printf(out, "{\"kind\": \"%s\", \"line\": %u, \"column\": %u, \"text\": ",
	           ir_fault_name(s->fault), at.line, at.column);
	string(out, buf_cstr(&text));
	buf_char(out, '}');
	buf_free(&text);
}

void run_json_step(const struct run *r, uint32_t i, struct buf *out)
{
	const struct run_step *s = &r->steps[i];
	struct source_pos at = source_pos(r->ir->src, r->ir->nodes[s->node].span.start);
	struct buf text;
	buf_init(&text);
	text_step(r, i, glyphs_for(false), &text);
	buf_printf(out, "{\"step\": %u, \"thread\": %u", i + 1, s->thread + 1);
	if (s->npick) {
		key(out, "choice");
		for (uint32_t k = 0; k < s->npick; k++)
			buf_printf(out, "%s%u", k ? ", " : "[", r->picks[s->pick + k] + 1);
		buf_char(out, ']');
	}
	buf_printf(out, ", \"line\": %u, \"column\": %u, \"text\": ", at.line, at.column);
	string(out, buf_cstr(&text));
	boundaries(r->ir, s, out);
	accesses(r, s, out);
	changes(r, s, out);
	local_values(r, s, out);
	operations(r, s, out);
	if (s->stuck)
		buf_str(out, ", \"stuck\": true");
	if (s->fault != IRF_NONE)
		fault(r, s, out);
	buf_char(out, '}');
	buf_free(&text);
}

/* ---- the state ---------------------------------------------------------- */

void run_json_shared(const struct ir *p, const int32_t *state, struct buf *out)
{
	buf_char(out, '{');
	for (uint32_t v = 0; v < p->nvars; v++) {
		const struct ir_var *var = &p->vars[v];
		buf_str(out, v ? ", " : "");
		string(out, var->name);
		buf_str(out, var->is_array ? ": [" : ": ");
		for (uint32_t i = 0; i < var->len; i++) {
			buf_str(out, i ? ", " : "");
			var_value(p, v, state[var->slot + i], out);
		}
		buf_str(out, var->is_array ? "]" : "");
	}
	buf_char(out, '}');
}

#define MAX_LOCALS 256u

/* `"name": value` of a local, in this frame. */
static void local(const struct ir *p, uint32_t id, const char *name, const int32_t *f, struct buf *out)
{
	const struct ir_local *l = &p->locals[id];
	string(out, name);
	buf_str(out, l->is_array ? ": [" : ": ");
	for (uint32_t i = 0; i < l->len; i++) {
		buf_str(out, i ? ", " : "");
		value(p, l->value, l->enum_id, f[l->slot + i], out);
	}
	buf_str(out, l->is_array ? "]" : "");
}

static void locals(const struct run *r, uint32_t thread, struct buf *out)
{
	const struct ir *p = r->ir;
	const int32_t *f = run_now(r) + p->threads[thread].frame;
	uint32_t ids[MAX_LOCALS], n = text_visible(r, thread, ids, MAX_LOCALS);
	buf_str(out, "{");
	for (uint32_t k = 0; k < n && k < MAX_LOCALS; k++) {
		buf_str(out, k ? ", " : "");
		local(p, ids[k], p->locals[ids[k]].name, f, out);
	}
	buf_char(out, '}');
}

void run_json_end(const struct ir *p, const int32_t *state, struct buf *out)
{
	struct buf all, name;
	uint32_t ids[MAX_LOCALS];
	bool first = !p->nvars;
	buf_init(&all);
	buf_init(&name);
	run_json_shared(p, state, &all);
	buf_add(out, buf_cstr(&all), all.len - 1); /* without its brace */
	for (uint32_t t = 0; t < p->nthreads; t++) {
		uint32_t n = text_visible_in(p, state, t, ids, MAX_LOCALS);
		for (uint32_t k = 0; k < n && k < MAX_LOCALS; k++) {
			buf_clear(&name);
			ir_print_thread(p, t, &name);
			buf_printf(&name, ".%s", p->locals[ids[k]].name);
			buf_str(out, first ? "" : ", ");
			first = false;
			local(p, ids[k], buf_cstr(&name), state + p->threads[t].frame, out);
		}
	}
	buf_char(out, '}');
	buf_free(&all);
	buf_free(&name);
}

void run_json_state(const struct run *r, struct buf *out)
{
	const struct ir *p = r->ir;
	buf_str(out, "{\"shared\": ");
	run_json_shared(p, run_now(r), out);
	buf_str(out, ",\n    \"threads\": [");
	for (uint32_t t = 0; t < p->nthreads; t++) {
		const struct ir_node *n = &p->nodes[ir_node_of(p, run_now(r), t)];
		buf_printf(out, "%s\n      {\"thread\": %u, ", t ? "," : "", t + 1);
		if (n->kind == IRN_END)
			buf_str(out, "\"finished\": true");
		else
			buf_printf(out, "\"line\": %u", source_pos(p->src, n->span.start).line);
		if (n->kind == IRN_STUCK)
			buf_str(out, ", \"stuck\": true");
		key(out, "block");
		name_or_null(out, n->block == IR_NONE ? NULL : p->blocks[n->block].name);
		key(out, "locals");
		locals(r, t, out);
		buf_char(out, '}');
	}
	buf_str(out, "\n    ]}");
}

void run_json(const struct run *r, struct buf *out)
{
	const struct ir *p = r->ir;
	struct buf schedule;
	buf_str(out, "  \"threads\": [");
	for (uint32_t t = 0; t < p->nthreads; t++) {
		buf_printf(out, "%s\n    {\"number\": %u, \"name\": ", t ? "," : "", t + 1);
		string(out, p->templates[p->threads[t].tmpl].name);
		buf_printf(out, ", \"index\": %u}", p->threads[t].index);
	}
	buf_init(&schedule);
	schedule_text(r, &schedule);
	buf_str(out, "\n  ],\n  \"schedule\": ");
	string(out, buf_cstr(&schedule));
	buf_free(&schedule);
	buf_str(out, ",\n  \"steps\": [");
	for (uint32_t i = 0; i < r->nsteps; i++) {
		buf_str(out, i ? ",\n    " : "\n    ");
		run_json_step(r, i, out);
	}
	buf_str(out, r->nsteps ? "\n  ],\n  \"state\": " : "],\n  \"state\": ");
	run_json_state(r, out);
}
