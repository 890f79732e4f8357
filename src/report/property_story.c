/*
 * property_story: why a state does not satisfy a condition: the values of what the condition names there, each once, in the order
 * of the text; or how looking at it goes wrong.
 */
#include "report/property_story.h"

#include <string.h>

#include "base/invariant.h"
#include "report/step_text.h"

enum { VALUES_SHOWN = 8 };

struct named_values {
	struct buf *out;
	const struct ir *p;
	const int32_t *state;
	uint64_t key[VALUES_SHOWN]; /* variable and element, or a block */
	uint32_t n, more;
};

static bool is_new(struct named_values *s, uint64_t key)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->key[i] == key)
			return false;
	if (s->n == VALUES_SHOWN) {
		s->more++;
		return false;
	}
	s->key[s->n++] = key;
	return true;
}

static void tell_values(struct named_values *s, uint32_t term)
{
	const struct ir_term *t = &s->p->terms[term];
	int32_t at = 0;
	switch ((enum ir_term_kind)t->kind) {
	case IRT_CONST:
		return;
	case IRT_VAR:
		if (t->a != IR_NONE)
			tell_values(s, t->a);
		if (t->a != IR_NONE &&
		    (ir_term_look(s->p, t->a, s->state, &at) || at < 0 || (uint32_t)at >= s->p->vars[t->value].len))
			return;
		if (!is_new(s, (uint64_t)t->value << 32 | (uint32_t)at))
			return;
		buf_str(s->out, s->n > 1 ? ", " : "");
		text_variable(s->p, (uint32_t)t->value, (uint32_t)at, s->out);
		buf_str(s->out, " = ");
		const struct ir_var *v = &s->p->vars[t->value];
		ir_print_value(s->p, v->value, v->enum_id, s->state[v->slot + (uint32_t)at], s->out);
		return;
	case IRT_INSIDE:
		if (!is_new(s, (uint64_t)UINT32_MAX << 32 | (uint32_t)t->value))
			return;
		ir_term_look(s->p, term, s->state, &at);
		buf_printf(s->out, "%sinside(", s->n > 1 ? ", " : "");
		buf_safe(s->out, s->p->blocks[t->value].name, strlen(s->p->blocks[t->value].name));
		buf_printf(s->out, ") = %d", at);
		return;
	case IRT_LEAKED:
		if (!is_new(s, (uint64_t)(UINT32_MAX - 1) << 32 | (uint32_t)t->value))
			return;
		ir_term_look(s->p, term, s->state, &at);
		buf_printf(s->out, "%sleaked(", s->n > 1 ? ", " : "");
		buf_safe(s->out, s->p->pools[t->value].name, strlen(s->p->pools[t->value].name));
		buf_printf(s->out, ") = %d", at);
		return;
	case IRT_COND:
	case IRT_AND:
	case IRT_OR:
	case IRT_OP:
	case IRT_INDEX:
		tell_values(s, t->a);
		if (t->kind == IRT_COND || t->kind == IRT_AND || t->kind == IRT_OR || (t->kind == IRT_OP && t->op >= IR_ADD))
			tell_values(s, t->b);
		if (t->kind == IRT_COND)
			tell_values(s, t->c);
		return;
	}
}

void property_story(const struct run *r, uint32_t property, struct buf *out)
{
	const struct ir *p = r->ir;
	assert(property < p->nproperties);
	const struct ir_property *q = &p->properties[property];
	struct buf values;
	struct named_values s = { .out = &values, .p = p, .state = run_now(r) };
	int32_t v = 0;
	buf_init(&values);
	enum ir_fault f = ir_property_look(p, property, run_now(r), &v);
	tell_values(&s, q->term);
	if (s.more)
		buf_str(&values, ", ...");
	buf_str(out, q->kind == IRP_REACH     ? "From this state on, no state in which the condition holds can be reached"
	             : q->kind == IRP_FINALLY ? "All threads have finished, and the condition does not hold"
	             : r->nsteps              ? "In the last state the condition does not hold"
	                                      : "In the initial state the condition does not hold");
	if (values.len)
		buf_printf(out, ": %s", buf_cstr(&values));
	if (f != IRF_NONE)
		buf_printf(out, "%s (looking at it goes wrong: %s)", values.len ? "" : ":", ir_fault_name(f));
	buf_char(out, '.');
	buf_free(&values);
}
