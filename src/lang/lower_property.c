/*
 * lower_property: conditions on all states as terms (ir.h), and steps that change ghosts.
 *
 * An access to a ghost is no step of its own: it belongs to the step before it, as local computation does. That step touches
 * more than one variable then, so its node becomes an IRN_STEP. A step that may touch nothing shared (entering a block, an
 * operation's call) cannot take it along: that is an error.
 */
#include <string.h>

#include "base/invariant.h"
#include "lang/lower.h"

/* ---- terms --------------------------------------------------------------- */

static uint32_t term(struct lower *l, struct ir_term t)
{
	avec_push(l->arena, &l->b.terms, t);
	return l->b.terms.len - 1;
}

static uint32_t constant(struct lower *l, int64_t v)
{
	return term(l, (struct ir_term){ .kind = IRT_CONST, .value = (int32_t)v });
}

static uint32_t lower_term(struct lower *l, struct expr *e);

/* The index of a place in its variable: row by row, each index within its dimension. IR_NONE: it is a scalar. */
static uint32_t index_term(struct lower *l, struct expr *place)
{
	const struct decl *d = place->decl;
	uint32_t at = IR_NONE, k = 0;
	struct expr first = { .kind = E_AT, .a = place->a };
	for (struct expr *sel = place->kind == E_INDEX  ? &first
	                        : place->kind == E_PATH ? place->args
	                                                : NULL;
	     sel; sel = sel->next) {
		if (sel->kind != E_AT)
			continue;
		assert(k < d->ndims);
		uint32_t i = term(l,
		                  (struct ir_term){ .kind = IRT_INDEX, .a = lower_term(l, sel->a), .value = (int32_t)d->dims[k] });
		if (at != IR_NONE) {
			at = term(l, (struct ir_term){ .kind = IRT_OP, .op = IR_MUL, .a = at, .b = constant(l, d->dims[k]) });
			i = term(l, (struct ir_term){ .kind = IRT_OP, .op = IR_ADD, .a = at, .b = i });
		}
		at = i;
		k++;
	}
	return at;
}

static uint32_t inside_term(struct lower *l, struct expr *e)
{
	struct expr *arg = e->args;
	const char *block = intern_str(l->names, arg->kind == E_PATH ? arg->args->name : arg->name);
	const char *tmpl = arg->kind == E_PATH ? intern_str(l->names, arg->name) : NULL;
	uint32_t sum = IR_NONE;
	for (uint32_t b = 0; b < l->b.blocks.len; b++) {
		const struct ir_block *x = &l->b.blocks.data[b];
		if (strcmp(x->name, block) || (tmpl && strcmp(l->b.templates.data[x->tmpl].name, tmpl)))
			continue;
		uint32_t one = term(l, (struct ir_term){ .kind = IRT_INSIDE, .value = (int32_t)b });
		sum = sum == IR_NONE ? one : term(l, (struct ir_term){ .kind = IRT_OP, .op = IR_ADD, .a = sum, .b = one });
	}
	if (sum != IR_NONE)
		return sum;
	if (!l->opts || !l->opts->alone1) {
		diag_error(l->d, "undeclared-name", l->u->src, arg->span, "no thread has an atomic block '%s%s%s'",
		           tmpl ? tmpl : "", tmpl ? "." : "", block);
		diag_hint(l->d, "a block has a name when it is written: atomic %s { ... }", block);
	}
	return constant(l, 0);
}

static uint8_t operator_of(enum op op)
{
	static const uint8_t ops[] = {
		[OP_NEG] = IR_NEG, [OP_NOT] = IR_NOT, [OP_BITNOT] = IR_BITNOT, [OP_ADD] = IR_ADD, [OP_SUB] = IR_SUB,
		[OP_MUL] = IR_MUL, [OP_DIV] = IR_DIV, [OP_MOD] = IR_MOD,       [OP_SHL] = IR_SHL, [OP_SHR] = IR_SHR,
		[OP_AND] = IR_AND, [OP_OR] = IR_OR,   [OP_XOR] = IR_XOR,       [OP_EQ] = IR_EQ,   [OP_NE] = IR_NE,
		[OP_LT] = IR_LT,   [OP_LE] = IR_LE,   [OP_GT] = IR_GT,         [OP_GE] = IR_GE,
	};
	assert(op < sizeof ops && ops[op]);
	return ops[op];
}

static uint32_t lower_term(struct lower *l, struct expr *e)
{
	uint32_t a, b, c;
	if (e->is_const)
		return constant(l, e->value);
	switch (e->kind) {
	case E_NAME:
	case E_INDEX:
	case E_PATH:
		assert(e->decl->kind == D_VAR && e->decl->is_shared);
		a = index_term(l, e);
		return term(l, (struct ir_term){ .kind = IRT_VAR, .value = (int32_t)e->decl->id, .a = a });
	case E_CALL:
		if (e->sync == SYNC_INSIDE)
			return inside_term(l, e);
		if (e->sync == SYNC_LEAKED)
			return term(l, (struct ir_term){ .kind = IRT_LEAKED, .value = (int32_t)pool_number(l, e->args->decl) });
		a = index_term(l, e->args);
		return term(l, (struct ir_term){ .kind = IRT_VAR, .value = (int32_t)e->args->decl->id, .a = a });
	case E_DEREF: /* of null: an index outside the array, so that the condition does not hold */
		a = lower_term(l, e->a);
		return term(l, (struct ir_term){ .kind = IRT_OP, .op = IR_SUB, .a = a, .b = constant(l, 1) });
	case E_UNARY:
		a = lower_term(l, e->a);
		return e->op == OP_PLUS ? a : term(l, (struct ir_term){ .kind = IRT_OP, .op = operator_of(e->op), .a = a });
	case E_BINARY:
		a = lower_term(l, e->a);
		b = lower_term(l, e->b);
		if (e->op == OP_LAND || e->op == OP_LOR)
			return term(l, (struct ir_term){ .kind = e->op == OP_LAND ? IRT_AND : IRT_OR, .a = a, .b = b });
		return term(l, (struct ir_term){ .kind = IRT_OP, .op = operator_of(e->op), .a = a, .b = b });
	default:
		assert(e->kind == E_COND); /* type_property.c has reported the others */
		a = lower_term(l, e->a);
		b = lower_term(l, e->b);
		c = lower_term(l, e->c);
		return term(l, (struct ir_term){ .kind = IRT_COND, .a = a, .b = b, .c = c });
	}
}

/* "always count <= 1", in one line. */
static const char *property_text(struct lower *l, const struct decl *d)
{
	static const char *const words[] = {
		[IRP_ALWAYS] = "always ", [IRP_FINALLY] = "finally ", [IRP_REACH] = "can always reach "
	};
	struct span at = d->init->span;
	size_t n = strlen(words[d->property]);
	char *s = arena_array(l->arena, char, n + (at.end - at.start) + 1);
	memcpy(s, words[d->property], n);
	for (uint32_t i = at.start; i < at.end; i++) {
		char ch = l->u->src->text[i];
		bool blank = ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r';
		if (!blank || s[n - 1] != ' ')
			s[n++] = blank ? ' ' : ch;
	}
	s[n] = 0;
	return s;
}

/* Unless the model says what it expects: when all threads have finished, nothing is lost. */
static void add_leaks(struct lower *l)
{
	for (const struct decl *d = l->u->decls; d; d = d->next) {
		if (d->kind != D_ENUM || !d->is_pool || d->leaked || l->b.properties.len >= IR_MAX_PROPERTIES)
			continue;
		uint32_t leaked = term(l, (struct ir_term){ .kind = IRT_LEAKED, .value = (int32_t)pool_number(l, d) });
		uint32_t zero = constant(l, 0);
		struct ir_property p = {
			.kind = IRP_FINALLY,
			.implied = true,
			.text = arena_printf(l->arena, "finally leaked(%s) == 0", intern_str(l->names, d->name)),
			.span = d->name_span,
		};
		p.term = term(l, (struct ir_term){ .kind = IRT_OP, .op = IR_EQ, .a = leaked, .b = zero });
		avec_push(l->arena, &l->b.properties, p);
	}
}

void lower_properties(struct lower *l)
{
	for (struct decl *d = l->u->decls; d; d = d->next) {
		if (d->kind != D_PROPERTY)
			continue;
		uint32_t t = lower_term(l, d->init);
		struct ir_property p = { .kind = d->property, .text = property_text(l, d), .span = d->init->span, .term = t };
		avec_push(l->arena, &l->b.properties, p);
	}
	add_leaks(l);
}

/* ---- ghosts -------------------------------------------------------------- */

static const struct ir_access *ghost_access(const struct lower *l, const struct ir_node *n)
{
	for (uint32_t i = 0; i < n->naccess; i++) {
		const struct ir_access *a = &l->b.accesses.data[n->access + i];
		if (l->b.vars.data[a->var].ghost)
			return a;
	}
	return NULL;
}

void lower_ghost_steps(struct lower *l)
{
	const struct ir_template *t = &l->b.templates.data[l->b.tmpl];
	for (uint32_t i = t->node; i < t->node + t->nnode; i++) {
		struct ir_node *n = &l->b.nodes.data[i];
		const struct ir_access *a = ghost_access(l, n);
		if (!a || n->kind == IRN_STEP)
			continue;
		if (n->kind == IRN_ACCESS || n->kind == IRN_LOCK || n->kind == IRN_AWAIT) {
			n->kind = IRN_STEP;
			continue;
		}
		diag_error(l->d, "ghost", l->u->src, l->b.spans.data[a->ins],
		           "no step precedes this access to the ghost '%s' to which it could belong", l->b.vars.data[a->var].name);
		diag_note(l->d, l->u->src, n->span,
		          n->kind == IRN_START      ? "the thread begins here"
		          : n->kind == IRN_ENTER    ? "a block is entered here, which touches nothing shared"
		          : n->kind == IRN_EXIT     ? "a block is left here, which touches nothing shared"
		          : n->kind == IRN_REGISTER ? "the access to a safe or regular variable takes time"
		                                    : "an operation begins or ends here, which touches nothing shared");
		diag_hint(l->d, "put it behind an access to a shared variable, or in a step of its own: step { ... }");
	}
}
