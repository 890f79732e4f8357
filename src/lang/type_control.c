/*
 * type_control: for and switch.
 *
 * A switch means what it means in C, and what C programmers get wrong is refused: a case that runs into the next one. So
 * every case ends in a jump (the last may just end), and several labels may share one list of statements.
 */
#include <string.h>

#include "lang/type.h"

/* ---- for ---------------------------------------------------------------- */

/* The local that `for (...; i < 4; i++)` counts with, or NULL; `by` is what is added each time. */
static const struct decl *counter_of(const struct stmt *s, int64_t *by)
{
	const struct stmt *a = s->advance;
	const struct expr *e = s->value;
	if (!a || a->next || a->kind != S_ASSIGN || !e || e->kind != E_BINARY || e->a->kind != E_NAME || !e->b->is_const)
		return NULL;
	const struct decl *d = e->a->decl;
	if (!d || d->kind != D_VAR || d->is_shared || d->type->kind != TY_INT || a->target->decl != d)
		return NULL;
	if (a->form == ASSIGN_INC || a->form == ASSIGN_DEC)
		*by = a->form == ASSIGN_INC ? 1 : -1;
	else if (a->form == ASSIGN_OP && (a->op == OP_ADD || a->op == OP_SUB) && a->value->is_const)
		*by = a->op == OP_ADD ? a->value->value : -a->value->value;
	else
		return NULL;
	return d;
}

/* for (int[0..3] i = 0; i < 4; i++): the last i++ stores 4. */
static void warn_range_of_counter(struct checker *c, const struct stmt *s)
{
	int64_t by = 0;
	const struct decl *d = counter_of(s, &by);
	if (!d || !d->type->ranged || d->type->wrap || d->is_ref)
		return;
	int64_t bound = s->value->b->value;
	enum op op = s->value->op;
	bool up = by > 0 && ((op == OP_LT && bound > d->type->max) || (op == OP_LE && bound >= d->type->max));
	bool down = by < 0 && ((op == OP_GT && bound < d->type->min) || (op == OP_GE && bound <= d->type->min));
	if (!up && !down)
		return;
	diag_warn(c->d, "counter-range", c->src, s->value->span,
	          "'%s' leaves its range %d..%d before the condition is false, which is a fault", name_of(c, d->name), d->type->min,
	          d->type->max);
	diag_note(c->d, c->src, d->name_span, "declared here");
	int64_t end = op == OP_LT || op == OP_GT ? bound : bound + (up ? 1 : -1);
	if (by == 1 || by == -1)
		diag_hint(c->d, "the loop ends with %s == %lld: declare it as int[%lld..%lld] %s", name_of(c, d->name),
		          (long long)end, (long long)(up ? d->type->min : end), (long long)(up ? end : d->type->max),
		          name_of(c, d->name));
}

void check_for(struct checker *c, struct stmt *s)
{
	uint32_t mark;
	scope_open(c, &mark);
	for (struct stmt *i = s->init; i; i = i->next)
		check_stmt(c, i);
	if (s->value)
		check_value(c, s->value, "a condition");
	check_loop_body(c, s->body);
	for (struct stmt *i = s->advance; i; i = i->next)
		check_stmt(c, i);
	warn_range_of_counter(c, s);
	scope_close(c, mark);
}

/* ---- switch ------------------------------------------------------------- */

#define MANY_LABELS 1024u /* of one switch: they are compared with each other */

static struct expr *label_with(const struct stmt *s, const struct expr *before, int64_t value)
{
	for (const struct stmt *k = s->body; k; k = k->next)
		for (struct expr *e = k->labels; e; e = e->next) {
			if (e == before)
				return NULL;
			if (e->is_const && e->value == value)
				return e;
		}
	return NULL;
}

static void check_label(struct checker *c, const struct stmt *s, struct expr *e)
{
	int64_t v;
	if (!check_const(c, e, "the value of a case", &v))
		return;
	const struct expr *on = s->value, *first = label_with(s, e, v);
	const struct type_ref *ty = on->decl && on->decl->kind == D_VAR && is_place(on) ? on->decl->type : NULL;
	if (on->type == TY_ENUM && e->type == TY_ENUM && on->enum_decl != e->enum_decl) {
		diag_error(c->d, "type", c->src, e->span, "the switch is on %s, but the case is %s",
		           type_text(c, TY_ENUM, on->enum_decl), type_text(c, TY_ENUM, e->enum_decl));
	} else if (first) {
		diag_error(c->d, "case-twice", c->src, e->span, "a second case for the value %lld", (long long)v);
		diag_note(c->d, c->src, first->span, "the first one");
	} else if (ty && (v < ty->min || v > ty->max)) {
		diag_warn(c->d, "dead-code", c->src, e->span, "this case can never be reached: '%s' is in %d..%d",
		          var_name(c, on->decl), ty->min, ty->max);
	}
}

/* Sets s->exhaustive; warns of enumerators without a case when there is no default. */
static void check_missing(struct checker *c, struct stmt *s, bool has_default)
{
	const struct expr *on = s->value;
	if (has_default)
		return;
	if (on->type == TY_BOOL) {
		s->exhaustive = label_with(s, NULL, 0) && label_with(s, NULL, 1);
		return;
	}
	if (on->type != TY_ENUM || !on->enum_decl)
		return;
	const struct decl *missing = NULL;
	uint32_t n = 0;
	for (const struct decl *m = on->enum_decl->members; m; m = m->next)
		if (!label_with(s, NULL, m->value)) {
			missing = missing ? missing : m;
			n++;
		}
	s->exhaustive = !n;
	if (!n)
		return;
	diag_warn(c->d, "missing-case", c->src, s->head,
	          n == 1 ? "the switch has no case for '%s'" : "the switch has no case for '%s' and %u more",
	          name_of(c, missing->name), n - 1);
	diag_hint(c->d, "add default: break; if nothing happens then");
}

void check_switch(struct checker *c, struct stmt *s)
{
	uint32_t mark, labels = 0;
	const struct stmt *dflt = NULL;
	check_value(c, s->value, "a value");
	for (struct stmt *k = s->body; k; k = k->next) {
		for (struct expr *e = k->labels; e && labels < MANY_LABELS; e = e->next, labels++)
			check_label(c, s, e);
		if (k->is_default && dflt) {
			diag_error(c->d, "case-twice", c->src, k->name_span, "a second 'default' in one switch");
			diag_note(c->d, c->src, dflt->name_span, "the first one");
		}
		dflt = k->is_default ? k : dflt;
	}
	if (labels == MANY_LABELS)
		diag_error(c->d, "too-large", c->src, s->head, "a switch has fewer than %u labels", MANY_LABELS);
	else
		check_missing(c, s, dflt != NULL);
	c->switches++;
	for (struct stmt *k = s->body; k; k = k->next) {
		scope_open(c, &mark);
		for (struct stmt *i = k->body; i; i = i->next)
			check_stmt(c, i);
		scope_close(c, mark);
	}
	c->switches--;
}

bool switch_falls_through(struct checker *c, struct stmt *s)
{
	bool has_default = false, any = false;
	for (struct stmt *k = s->body; k; k = k->next) {
		bool on = list_falls_through(c, k->body);
		has_default |= k->is_default;
		any |= on || list_jumps(k->body, S_BREAK);
		if (!on || !k->next)
			continue;
		struct span word = k->next->head;
		diag_error(c->d, "fall-through", c->src, word, "the case before this one can run into it");
		diag_note(c->d, c->src, k->head, "the case begins here");
		diag_hint(c->d, "end it with break; labels that share statements stand together: case 1: case 2: ...");
	}
	return any || !(has_default || s->exhaustive);
}
