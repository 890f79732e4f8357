/* type_expr: types of expressions. */
#include <string.h>

#include "base/invariant.h"
#include "lang/parse_foreign.h"
#include "lang/type.h"

/* ---- expressions -------------------------------------------------------- */

static bool is_value(enum type_kind k)
{
	return k == TY_BOOL || k == TY_INT || k == TY_ENUM;
}

void check_value(struct checker *c, struct expr *e, const char *what)
{
	check_expr(c, e);
	if (is_sync(e->type)) {
		diag_error(c->d, "type", c->src, e->span, "%s has no value", sync_a_word(e->type));
		sync_hint(c, e->type);
		e->type = TY_INT;
	} else if (e->type == TY_STRUCT) {
		diag_error(c->d, "type", c->src, e->span, "%s is needed, but this is a whole struct", what);
		diag_hint(c->d, "name one of its fields; structs are compared and passed on field by field");
		e->type = TY_INT;
	} else if (e->type == TY_VOID) {
		diag_error(c->d, "type", c->src, e->span, "%s is needed, but the call returns nothing", what);
		if (e->decl)
			diag_note(c->d, c->src, e->decl->name_span, "'%s' is declared without a result", name_of(c, e->decl->name));
		e->type = TY_INT;
	}
	assert(is_value(e->type));
}

void check_fits(struct checker *c, struct expr *e, const struct type_ref *to, const char *what)
{
	check_value(c, e, "a value");
	if (!check_reference_fits(c, e, to, what))
		return;
	if (to->kind == TY_ENUM && e->type == TY_ENUM && to->enum_decl != e->enum_decl && to->enum_decl && e->enum_decl)
		diag_error(c->d, "type", c->src, e->span, "%s is %s, but the value is %s", what,
		           type_text(c, to->kind, to->enum_decl), type_text(c, e->type, e->enum_decl));
	else if (e->is_const && is_value(to->kind) && to->kind != TY_BOOL && !to->wrap &&
	         (e->value < to->min || e->value > to->max))
		diag_warn(c->d, "always-faults", c->src, e->span, "%lld is outside the range %d..%d of %s: storing it is a fault",
		          (long long)e->value, to->min, to->max, what);
}

/* A variable or element used as a place or value; marks what it is. */
static void check_place(struct checker *c, struct expr *e)
{
	if (check_null(c, e))
		return;
	struct decl *d = scope_find(c, e->name, e->name_span, "the name");
	bool arrays = c->whole_arrays; /* e may be one, its indices may not */
	c->whole_arrays = false;
	e->type = TY_INT;
	if (e->kind == E_INDEX)
		check_value(c, e->a, "an index");
	for (struct expr *sel = e->kind == E_PATH ? e->args : NULL; sel; sel = sel->next)
		if (sel->kind == E_AT)
			check_value(c, sel->a, "an index");
	if (!d)
		return;
	e->decl = d;
	switch (d->kind) {
	case D_CONST:
		if (const_resolve(c, d, e->span))
			e->is_const = true;
		e->value = d->value;
		e->type = d->init && d->init->type ? d->init->type : TY_INT;
		e->enum_decl = d->init ? d->init->enum_decl : NULL;
		d->reads++;
		break;
	case D_ENUMERATOR:
		e->is_const = true;
		e->value = d->value;
		e->type = TY_ENUM;
		e->enum_decl = d->owner;
		break;
	case D_VAR:
		check_var_place(c, e, d, arrays);
		return;
	case D_OBJECT:
		if (e->kind == E_PATH) {
			diag_error(c->d, "syntax", c->src, e->span, "an object's fields cannot be used from outside");
			diag_hint(c->d, "call one of its operations, as in %s.read()", name_of(c, e->name));
			e->decl = NULL;
			return;
		}
		/* fall through */
	default:
		diag_error(c->d, "not-a-variable", c->src, e->name_span, "'%s' is %s, not a variable", name_of(c, e->name),
		           d->kind == D_PROC     ? "a procedure"
		           : d->kind == D_THREAD ? "a thread"
		           : d->kind == D_OBJECT ? "an object"
		                                 : "a type");
		if (d->kind == D_PROC)
			diag_hint(c->d, "call it: %s(...)", name_of(c, e->name));
		else
			diag_note(c->d, c->src, d->name_span, "declared here");
		e->decl = NULL;
		return;
	}
	if (e->kind == E_NAME)
		return;
	diag_error(c->d, "type", c->src, e->span, "'%s' is not %s", name_of(c, e->name),
	           e->kind == E_PATH && e->args->kind == E_FIELD ? "a struct" : "an array");
	diag_note(c->d, c->src, d->name_span, "declared here");
	e->decl = NULL;
	e->is_const = false;
}

static void check_unary(struct checker *c, struct expr *e)
{
	assert(e->kind == E_UNARY && e->a);
	check_value(c, e->a, "an operand");
	check_reference_operands(c, e);
	e->shared = e->a->shared;
	e->type = e->op == OP_NOT ? TY_BOOL : TY_INT;
	if (e->a->is_const)
		e->is_const = const_fold(e->op, e->a->value, 0, &e->value);
}

static void check_binary(struct checker *c, struct expr *e)
{
	assert(e->kind == E_BINARY && e->a && e->b);
	check_value(c, e->a, "an operand");
	check_value(c, e->b, "an operand");
	check_reference_operands(c, e);
	e->shared = e->a->shared || e->b->shared;
	bool compare = e->op >= OP_EQ && e->op <= OP_GE;
	bool logic = e->op == OP_LAND || e->op == OP_LOR;
	bool bits = e->op == OP_AND || e->op == OP_OR || e->op == OP_XOR;
	e->type = compare || logic ? TY_BOOL : bits && e->a->type == TY_BOOL && e->b->type == TY_BOOL ? TY_BOOL : TY_INT;
	if (compare && e->a->type == TY_ENUM && e->b->type == TY_ENUM && e->a->enum_decl != e->b->enum_decl)
		diag_error(c->d, "type", c->src, e->op_span, "%s is compared with %s", type_text(c, TY_ENUM, e->a->enum_decl),
		           type_text(c, TY_ENUM, e->b->enum_decl));
	if ((e->op == OP_DIV || e->op == OP_MOD) && e->b->is_const && e->b->value == 0 && c->proc)
		diag_warn(c->d, "always-faults", c->src, e->b->span, "division by zero is a fault");
	if (compare && e->a->kind == E_BINARY && !e->a->parens && e->a->op >= OP_LT && e->a->op <= OP_GE) {
		diag_warn(c->d, "chained-comparison", c->src, e->span, "a < b < c compares a truth value with c, as in C");
		diag_hint(c->d, "write a < b && b < c");
	}
	if (e->a->is_const && e->b->is_const)
		e->is_const = const_fold(e->op, e->a->value, e->b->value, &e->value);
	else if (e->op == OP_LAND && e->a->is_const && !e->a->value)
		e->is_const = true, e->value = 0;
	else if (e->op == OP_LOR && e->a->is_const && e->a->value)
		e->is_const = true, e->value = 1;
}

static void check_cond(struct checker *c, struct expr *e)
{
	assert(e->kind == E_COND && e->a && e->b && e->c);
	check_value(c, e->a, "a condition");
	check_value(c, e->b, "a value");
	check_value(c, e->c, "a value");
	e->shared = e->a->shared || e->b->shared || e->c->shared;
	e->type = e->b->type == e->c->type ? e->b->type : TY_INT;
	e->enum_decl = e->b->enum_decl;
	if (is_reference(e->b) && is_reference(e->c) && (e->b->is_null || e->c->is_null)) {
		e->type = e->b->is_null ? e->c->type : e->b->type; /* one of them may be null */
		e->enum_decl = e->b->is_null ? e->c->enum_decl : e->b->enum_decl;
		e->is_null = e->b->is_null && e->c->is_null;
	}
	if (e->type == TY_ENUM && e->b->enum_decl != e->c->enum_decl)
		e->type = TY_INT;
	if (e->a->is_const && (e->a->value ? e->b : e->c)->is_const) {
		e->is_const = true;
		e->value = (e->a->value ? e->b : e->c)->value;
	}
}

static void check_args(struct checker *c, struct expr *e, struct decl *proc)
{
	assert(proc->kind == D_PROC);
	struct decl *param = proc->params;
	uint32_t i = 0;
	for (struct expr *arg = e->args; arg; arg = arg->next, i++) {
		if (param && param->is_ref) {
			check_ref_arg(c, arg, param);
			param = param->next;
		} else if (param && is_sync(param->type->kind)) {
			check_expr(c, arg); /* the parameter was reported */
			param = param->next;
		} else if (param && param->type->kind == TY_STRUCT) {
			check_struct_value(c, arg, param->type->struct_decl,
			                   arena_printf(c->arena, "parameter '%s'", name_of(c, param->name)));
			param = param->next;
		} else if (param) {
			check_fits(c, arg, param->type, arena_printf(c->arena, "parameter '%s'", name_of(c, param->name)));
			param = param->next;
		} else {
			check_value(c, arg, "an argument");
		}
	}
	if (e->nargs != proc->nparams) {
		diag_error(c->d, "argument-count", c->src, e->span, "'%s' takes %u argument%s, not %u", name_of(c, proc->name),
		           proc->nparams, proc->nparams == 1 ? "" : "s", e->nargs);
		diag_note(c->d, c->src, proc->name_span, "declared here");
		e->decl = NULL;
	}
}

static void check_call(struct checker *c, struct expr *e)
{
	assert(e->kind == E_CALL);
	if (check_sync_call(c, e) || check_pool_call(c, e) || check_property_call(c, e))
		return;
	struct decl *d = scope_find(c, e->name, e->name_span, "the procedure");
	const char *hint = d ? NULL : foreign_call_hint(name_of(c, e->name));
	if (hint)
		diag_hint(c->d, "%s", hint);
	e->type = TY_INT;
	e->shared = true;
	if (d && d->kind != D_PROC) {
		diag_error(c->d, "not-a-procedure", c->src, e->name_span, "'%s' is not a procedure", name_of(c, e->name));
		diag_note(c->d, c->src, d->name_span, "declared here");
		d = NULL;
	}
	if (!d) {
		for (struct expr *arg = e->args; arg; arg = arg->next)
			check_expr(c, arg);
		return;
	}
	e->decl = d;
	d->reads++;
	e->type = d->result ? d->result->kind : TY_VOID;
	e->enum_decl = d->result ? d->result->enum_decl : NULL;
	check_args(c, e, d);
	struct call_edge edge = { c->proc, d, e->name_span, c->proc ? c->proc->id : 0 };
	avec_push(c->arena, &c->calls, edge);
	if (c->proc)
		c->proc->id = c->calls.len - 1;
}

static void check_method(struct checker *c, struct expr *e)
{
	assert(e->kind == E_METHOD);
	struct decl *o = scope_find(c, e->name, e->name_span, "the object"), *m = NULL;
	e->type = TY_INT;
	e->shared = true;
	if (o && o->kind != D_OBJECT) {
		diag_error(c->d, "not-an-object", c->src, e->name_span, "'%s' is not an object", name_of(c, e->name));
		diag_note(c->d, c->src, o->name_span, "declared here");
		o = NULL;
	}
	if (o) {
		o->reads++;
		for (m = o->methods; m && m->name != e->method; m = m->next)
			;
	}
	if (o && !m) {
		diag_error(c->d, "undeclared-name", c->src, e->method_span, "'%s' has no operation '%s'", name_of(c, o->name),
		           name_of(c, e->method));
		diag_note(c->d, c->src, o->name_span, "the object is declared here");
	}
	if (!m) {
		for (struct expr *arg = e->args; arg; arg = arg->next)
			check_value(c, arg, "an argument");
		return;
	}
	if (c->steps)
		diag_error(c->d, "not-in-step", c->src, e->span, "an operation takes time: it is not allowed inside step { }");
	e->decl = m;
	m->reads++;
	e->type = m->result ? m->result->kind : TY_VOID;
	e->enum_decl = m->result ? m->result->enum_decl : NULL;
	check_args(c, e, m);
	struct call_edge edge = { c->proc, m, e->name_span, c->proc ? c->proc->id : 0 };
	avec_push(c->arena, &c->calls, edge);
	if (c->proc)
		c->proc->id = c->calls.len - 1;
}

/* What a variable is compared with by cas, or what is added to it. */
static void check_operand(struct checker *c, struct expr *e, const struct decl *d)
{
	check_value(c, e->b, "a value");
	if (e->kind == E_CAS)
		check_reference_fits(c, e->b, d->type, "what is expected");
	else if (d->type->kind == TY_ENUM && d->type->enum_decl && d->type->enum_decl->is_pool)
		diag_error(c->d, "type", c->src, e->a->span, "a reference is no number: nothing is added to it");
}

/* cas, exchange, fetch_add */
static void check_rmw(struct checker *c, struct expr *e)
{
	assert(e->kind == E_CAS || e->kind == E_XCHG || e->kind == E_FADD);
	const char *word = e->kind == E_CAS ? "cas" : e->kind == E_XCHG ? "exchange" : "fetch_add";
	check_expr(c, e->a);
	e->shared = true;
	struct decl *d = e->a->decl;
	if (d && d->kind == D_VAR && !d->is_shared && !whole_of(d)->is_ref) { /* what a reference means is known in the call */
		diag_error(c->d, "not-shared", c->src, e->a->span, "%s needs a shared variable; '%s' is local", word,
		           var_name(c, d));
		diag_note(c->d, c->src, d->name_span, "declared here");
	} else if (d && d->kind == D_VAR && is_sync(d->type->kind)) {
		diag_error(c->d, "type", c->src, e->a->span, "%s cannot be applied to %s", word, sync_a_word(d->type->kind));
		if (d->type->kind == TY_LOCK)
			diag_hint(c->d, "use acquire and release, or make it a bool");
		else
			sync_hint(c, d->type->kind);
	} else if (d && d->kind == D_VAR && d->type->kind == TY_STRUCT) {
		diag_error(c->d, "type", c->src, e->a->span, "%s needs one field; '%s' is a whole struct", word, var_name(c, d));
		diag_hint(c->d, "a machine that does it in one step: step { ... }");
	} else if (d && d->kind == D_VAR && d->var_class != VAR_PLAIN) {
		diag_error(c->d, "type", c->src, e->a->span, "%s needs a plain variable; '%s' is only a %s register", word,
		           var_name(c, d), d->var_class == VAR_SAFE ? "safe" : "regular");
	} else if (e->a->kind != E_ERROR && d && d->kind != D_VAR) {
		diag_error(c->d, "not-a-variable", c->src, e->a->span, "%s needs a shared variable; '%s' is a constant", word,
		           var_name(c, d));
		diag_note(c->d, c->src, d->name_span, "declared here");
	} else if (d && d->kind == D_VAR) {
		whole_of(d)->reads++;
		whole_of(d)->writes++;
		if (e->kind == E_XCHG)
			check_fits(c, e->b, d->type, arena_printf(c->arena, "'%s'", var_name(c, d)));
		else
			check_operand(c, e, d); /* compared or added, not stored */
		if (e->kind == E_CAS && e->a->type == TY_ENUM && e->b->type == TY_ENUM && e->a->enum_decl != e->b->enum_decl)
			diag_error(c->d, "type", c->src, e->b->span, "%s is compared with %s",
			           type_text(c, TY_ENUM, e->a->enum_decl), type_text(c, TY_ENUM, e->b->enum_decl));
		if (e->c)
			check_fits(c, e->c, d->type, arena_printf(c->arena, "'%s'", var_name(c, d)));
		e->type = e->kind == E_CAS ? TY_BOOL : e->a->type;
		e->enum_decl = e->kind == E_CAS ? NULL : e->a->enum_decl;
		return;
	}
	if (e->b)
		check_value(c, e->b, "a value");
	if (e->c)
		check_value(c, e->c, "a value");
	e->type = e->kind == E_CAS ? TY_BOOL : TY_INT;
	e->a->decl = NULL;
}

static void check_any(struct checker *c, struct expr *e)
{
	assert(e->kind == E_ANY);
	e->type = TY_INT;
	if (e->any_type) {
		check_type_ref(c, e->any_type);
		if (e->any_type->kind == TY_STRUCT) {
			diag_error(c->d, "type", c->src, e->span, "any() chooses one value, not a struct");
			e->any_type->kind = TY_INT;
		}
		if (e->any_type->kind == TY_ENUM && e->any_type->enum_decl && e->any_type->enum_decl->is_pool)
			diag_error(c->d, "type", c->src, e->span, "any() cannot choose a reference");
		e->type = e->any_type->kind;
		e->enum_decl = e->any_type->enum_decl;
		return;
	}
	struct type_ref *ty = arena_new(c->arena, struct type_ref);
	ty->kind = TY_INT;
	ty->span = e->span;
	ty->lo = e->a;
	ty->hi = e->b;
	check_range(c, ty);
	e->any_type = ty;
	if ((int64_t)ty->max - ty->min >= 1 << 20)
		diag_error(c->d, "too-many-choices", c->src, e->span, "any() over %lld values; at most %d can be tried",
		           (long long)ty->max - ty->min + 1, 1 << 20);
}

void check_expr(struct checker *c, struct expr *e)
{
	switch (e->kind) {
	case E_ERROR:
		e->type = TY_INT;
		break;
	case E_INT:
	case E_BOOL:
		e->type = e->kind == E_INT ? TY_INT : TY_BOOL;
		e->is_const = true;
		if (e->value > INT32_MAX) {
			diag_error(c->d, "bad-number", c->src, e->span, "the number does not fit into 32 bits");
			diag_hint(c->d, "the largest int is 2147483647");
			e->value = INT32_MAX;
		}
		break;
	case E_NAME:
	case E_INDEX:
	case E_PATH:
		check_place(c, e);
		if (e->decl && e->decl->kind == D_VAR)
			whole_of(e->decl)->reads++;
		check_ghost_use(c, e);
		break;
	case E_AT:
	case E_FIELD:
	case E_DEREF:
		break; /* check_place */
	case E_LIST:
		diag_error(c->d, "type", c->src, e->span, "a list is no value");
		e->type = TY_INT;
		break;
	case E_UNARY:
		check_unary(c, e);
		break;
	case E_BINARY:
		check_binary(c, e);
		break;
	case E_COND:
		check_cond(c, e);
		break;
	case E_CALL:
		check_call(c, e);
		break;
	case E_METHOD:
		check_method(c, e);
		break;
	case E_CAS:
	case E_XCHG:
	case E_FADD:
		check_rmw(c, e);
		break;
	case E_ANY:
		check_any(c, e);
		break;
	}
	if (c->steps && e->decl && e->decl->kind == D_VAR && e->decl->is_shared && e->decl->var_class != VAR_PLAIN)
		diag_error(c->d, "not-in-step", c->src, e->span,
		           "accesses to a %s variable take time: they are not allowed inside step { }",
		           e->decl->var_class == VAR_SAFE ? "safe" : "regular");
}
