/* type_stmt: variables and statements, and whether control reaches the end of a body. */
#include <string.h>

#include "base/invariant.h"
#include "lang/type.h"

/* ---- variables ---------------------------------------------------------- */

int64_t default_value(const struct type_ref *ty)
{
	assert(ty->min <= ty->max);
	return ty->min > 0 || ty->max < 0 ? ty->min : 0;
}

void check_init_value(struct checker *c, struct decl *d, struct expr *e)
{
	int64_t v;
	const struct type_ref *ty = d->type;
	if (!check_const(c, e, "an initial value of a shared variable", &v) ||
	    !check_reference_fits(c, e, ty, arena_printf(c->arena, "'%s'", var_name(c, d))))
		return;
	if (ty->kind == TY_ENUM && e->type == TY_ENUM && e->enum_decl != ty->enum_decl)
		diag_error(c->d, "type", c->src, e->span, "'%s' is %s, but the value is %s", var_name(c, d),
		           type_text(c, TY_ENUM, ty->enum_decl), type_text(c, TY_ENUM, e->enum_decl));
	else if (ty->kind != TY_BOOL && (v < ty->min || v > ty->max))
		diag_error(c->d, "out-of-range", c->src, e->span, "the initial value %lld is outside the range %d..%d of '%s'",
		           (long long)v, ty->min, ty->max, var_name(c, d));
}

/* The initial value of a synchronisation object; false when the rest makes no sense. */
static bool check_sync_var(struct checker *c, struct decl *d)
{
	enum type_kind k = d->type->kind;
	if (k == TY_BARRIER && d->is_array) {
		diag_error(c->d, "type", c->src, d->name_span, "barriers cannot be in an array");
		diag_hint(c->d, "give each a name of its own");
		return false;
	}
	if (k == TY_BARRIER && !d->init && !d->is_param) {
		diag_error(c->d, "type", c->src, d->name_span, "the barrier '%s' does not say for how many threads it waits",
		           name_of(c, d->name));
		diag_hint(c->d, "barrier %s = 2;", name_of(c, d->name));
		return false;
	}
	if (k == TY_CHAN && !d->is_array) {
		diag_error(c->d, "type", c->src, d->name_span, "the chan '%s' does not say how many values it holds",
		           name_of(c, d->name));
		diag_hint(c->d, "chan int %s[2]; holds two", name_of(c, d->name));
		return false;
	}
	if (d->init && k != TY_BARRIER && k != TY_SEMAPHORE) {
		diag_error(c->d, "type", c->src, d->init->span, "%s takes no initial value", sync_a_word(k));
		return false;
	}
	return true;
}

void check_class(struct checker *c, const struct decl *d)
{
	if (!is_sync(d->type->kind) && (int64_t)d->type->max - d->type->min < 1024)
		return;
	diag_error(c->d, "type", c->src, d->class_span, "a %s variable needs a type of at most 1024 values",
	           d->var_class == VAR_SAFE ? "safe" : "regular");
	diag_hint(c->d, "use bool, an enum or a range such as int[0..3]");
}

/* Type, length and initialiser of a variable; not its name. */
void check_var(struct checker *c, struct decl *d)
{
	assert(d->kind == D_VAR && d->type);
	if (d->first_of_group && !check_sync_type(c, d->type))
		check_type_ref(c, d->type);
	if (d->type->kind == TY_VOID)
		diag_error(c->d, "type", c->src, d->type->span, "a variable cannot be void");
	check_dims(c, d);
	if (d->type->kind != TY_STRUCT && d->var_class != VAR_PLAIN)
		check_class(c, d);
	if (d->init && d->type->kind == TY_LOCK) {
		diag_error(c->d, "type", c->src, d->init->span, "locks are free at the start and take no initial value");
		return;
	}
	if (is_sync(d->type->kind) && !check_sync_var(c, d))
		return;
	if (d->type->kind == TY_STRUCT || d->ndims > 1) {
		check_shaped_var(c, d);
		return;
	}
	if (d->init_list && !d->is_array)
		diag_error(c->d, "type", c->src, d->name_span, "'%s' is not an array: it takes one initial value",
		           name_of(c, d->name));
	if (d->init && d->is_array && !d->init_list)
		diag_error(c->d, "type", c->src, d->init->span, "an array's initial values are written in braces: { 1, 2 }");
	uint32_t n = 0;
	for (struct expr *e = d->init; e; e = e->next, n++) {
		if (e->kind == E_LIST || e->designator) {
			diag_error(c->d, "type", c->src, e->designator ? e->designator_span : e->span,
			           e->designator ? "'%s' has no fields" : "'%s' takes one initial value here, not a list",
			           name_of(c, d->name));
			continue;
		}
		if (d->is_shared)
			check_init_value(c, d, e);
		else
			check_fits(c, e, d->type, arena_printf(c->arena, "'%s'", name_of(c, d->name)));
		if (n == d->array_len && d->init_list)
			diag_error(c->d, "array-length", c->src, e->span, "more initial values than the %u elements of '%s'",
			           d->array_len, name_of(c, d->name));
	}
	if (d->init)
		d->writes++;
	assert(d->array_len >= 1);
}

/* ---- statements --------------------------------------------------------- */

static void check_target(struct checker *c, struct stmt *s)
{
	assert(s->kind == S_ASSIGN && s->target);
	struct expr *t = s->target;
	check_expr(c, t);
	struct decl *d = t->decl;
	if (!d || t->kind == E_ERROR)
		return;
	if (d->kind != D_VAR) {
		diag_error(c->d, "not-a-variable", c->src, t->span, "'%s' cannot be assigned", var_name(c, d));
		diag_note(c->d, c->src, d->name_span, "it is a constant");
		t->decl = NULL;
		return;
	}
	if (is_sync(d->type->kind)) {
		diag_error(c->d, "type", c->src, t->span, "%s cannot be assigned", sync_a_word(d->type->kind));
		if (d->type->kind == TY_LOCK)
			diag_hint(c->d, "use acquire(%s) and release(%s)", var_name(c, d), var_name(c, d));
		else
			sync_hint(c, d->type->kind);
		t->decl = NULL;
		return;
	}
	if (s->form == ASSIGN_PLAIN)
		whole_of(d)->reads--; /* check_expr counted it */
	whole_of(d)->writes++;
}

/* To a target that is resolved. */
static void check_assigned(struct checker *c, struct stmt *s)
{
	check_target(c, s);
	struct decl *d = s->target->decl;
	if (d && d->type->kind == TY_STRUCT) {
		if (s->form == ASSIGN_PLAIN) {
			check_struct_value(c, s->value, d->type->struct_decl, arena_printf(c->arena, "'%s'", var_name(c, d)));
			return;
		}
		diag_error(c->d, "type", c->src, s->target->span,
		           "'%s' is a struct: only one of its fields can be changed this way", var_name(c, d));
		s->target->decl = NULL;
	}
	if (s->form == ASSIGN_PLAIN && d)
		check_fits(c, s->value, d->type, arena_printf(c->arena, "'%s'", var_name(c, d)));
	else if (s->value)
		check_value(c, s->value, "a value");
}

static void check_assign(struct checker *c, struct stmt *s)
{
	assert(!c->ghosts);
	c->ghosts = is_ghost_place(c, s->target);
	check_assigned(c, s);
	c->ghosts = false;
}

static void check_decl_stmt(struct checker *c, struct stmt *s)
{
	assert(s->kind == S_DECL);
	for (struct decl *d = s->decls; d; d = d->next) {
		declare_type(c, d->type);
		if (d->type->struct_def && d->first_of_group)
			diag_error(c->d, "misplaced", c->src, d->type->name_span, "structs are declared at the top level");
		check_var(c, d);
		if (d->type->kind > TY_LOCK && d->first_of_group) {
			diag_error(c->d, "misplaced", c->src, d->type->span, "%s is shared: declare it at the top level",
			           sync_a_word(d->type->kind));
		}
		scope_declare(c, d);
		avec_push(c->arena, &c->locals, d);
	}
}

static void check_return(struct checker *c, struct stmt *s)
{
	assert(s->kind == S_RETURN);
	struct decl *p = c->proc;
	if (!p || p->kind == D_THREAD) {
		if (s->value)
			diag_error(c->d, "return-value", c->src, s->span, "a thread returns no value");
		return;
	}
	if (p->result && !s->value)
		diag_error(c->d, "return-value", c->src, s->span, "'%s' must return a value", name_of(c, p->name));
	else if (!p->result && s->value) {
		check_value(c, s->value, "a value");
		diag_error(c->d, "return-value", c->src, s->value->span, "'%s' returns no value", name_of(c, p->name));
		diag_hint(c->d, "declare it with a type in place of 'proc'");
	} else if (s->value)
		check_fits(c, s->value, p->result, "the result");
}

static void check_lock_stmt(struct checker *c, struct stmt *s)
{
	assert(s->kind == S_ACQUIRE || s->kind == S_RELEASE);
	const char *word = s->kind == S_ACQUIRE ? "acquire" : "release";
	if (!s->target)
		return;
	check_expr(c, s->target);
	struct decl *d = s->target->decl;
	if (!d)
		return;
	if (d->kind == D_VAR && d->type->kind == TY_RWLOCK && s->kind == S_RELEASE)
		return;
	if (d->kind != D_VAR || d->type->kind != TY_LOCK) {
		diag_error(c->d, "not-a-lock", c->src, s->target->span, "%s needs a lock; '%s' is %s", word, var_name(c, d),
		           d->kind == D_VAR ? type_text(c, d->type->kind, d->type->enum_decl) : "a constant");
		diag_note(c->d, c->src, d->name_span, "declared here");
		if (d->kind == D_VAR && is_sync(d->type->kind))
			sync_hint(c, d->type->kind);
		else if (d->kind == D_VAR && d->is_shared)
			diag_hint(c->d, "declare it as: lock %s;", var_name(c, d));
		s->target->decl = NULL;
	}
}

static void check_expr_stmt(struct checker *c, struct stmt *s)
{
	struct expr *e = s->value;
	check_expr(c, e);
	if (e->type == TY_STRUCT) {
		diag_error(c->d, "type", c->src, e->span, "a struct is no statement");
		diag_hint(c->d, "to copy it, write v = ...");
		return;
	}
	if (e->kind == E_CALL || e->kind == E_METHOD || e->kind == E_CAS || e->kind == E_XCHG || e->kind == E_FADD ||
	    e->kind == E_ERROR)
		return;
	diag_warn(c->d, "no-effect", c->src, e->span, "the statement has no effect");
	if (e->kind == E_BINARY && e->op == OP_EQ)
		diag_hint(c->d, "to assign, write =");
}

/* In a scope of its own. */
static void check_body(struct checker *c, struct stmt *body)
{
	uint32_t mark;
	scope_open(c, &mark);
	check_stmt(c, body);
	scope_close(c, mark);
}

void check_loop_body(struct checker *c, struct stmt *body)
{
	uint32_t switches = c->switches;
	c->switches = 0;
	c->loops++;
	check_body(c, body);
	c->loops--;
	c->switches = switches;
}

static void check_jump(struct checker *c, struct stmt *s)
{
	if (c->loops || (c->switches && s->kind == S_BREAK))
		return;
	diag_error(c->d, "misplaced", c->src, s->head, "'%s' outside a loop", s->kind == S_BREAK ? "break" : "continue");
	if (c->proc && c->proc->kind == D_PROC)
		diag_hint(c->d, "a procedure cannot end a loop of its caller; "
		                "return a value and test it there");
	else if (c->switches)
		diag_hint(c->d, "to leave the switch, write break");
}

static void check_atomic(struct checker *c, struct stmt *s)
{
	assert(s->kind == S_ATOMIC);
	if (c->steps) {
		diag_error(c->d, "not-in-step", c->src, s->head, "a step is indivisible: an atomic block is not allowed inside it");
		diag_hint(c->d, "step { } is a primitive of the machine; atomic { } is "
		                "what is verified");
	} else if (c->atomics) {
		diag_warn(c->d, "nested-atomic", c->src, s->head, "%s inside an atomic block: it belongs to the outer one",
		          c->u->sml ? "begin" : "atomic");
		diag_hint(c->d, "only the outermost block is verified; remove this one");
	}
	c->atomics++;
	check_body(c, s->body);
	c->atomics--;
}

void check_stmt(struct checker *c, struct stmt *s)
{
	uint32_t mark;
	switch (s->kind) {
	case S_BLOCK:
		scope_open(c, &mark);
		for (struct stmt *i = s->body; i; i = i->next)
			check_stmt(c, i);
		scope_close(c, mark);
		break;
	case S_DECL:
		check_decl_stmt(c, s);
		break;
	case S_ASSIGN:
		check_assign(c, s);
		break;
	case S_EXPR:
		check_expr_stmt(c, s);
		break;
	case S_IF:
		check_value(c, s->value, "a condition");
		check_body(c, s->body);
		if (s->other)
			check_body(c, s->other);
		break;
	case S_WHILE:
	case S_REPEAT:
		check_value(c, s->value, s->kind == S_WHILE ? "a condition" : "a count");
		if (s->kind == S_REPEAT && s->value->is_const && s->value->value < 0)
			diag_warn(c->d, "dead-code", c->src, s->value->span, "repeat with a negative count does nothing");
		check_loop_body(c, s->body);
		break;
	case S_FOR:
		check_for(c, s);
		break;
	case S_DO:
		check_loop_body(c, s->body);
		check_value(c, s->value, "a condition");
		break;
	case S_SWITCH:
		check_switch(c, s);
		break;
	case S_CASE:
		break; /* check_switch */
	case S_BREAK:
	case S_CONTINUE:
		check_jump(c, s);
		break;
	case S_RETURN:
		check_return(c, s);
		break;
	case S_ACQUIRE:
	case S_RELEASE:
		check_lock_stmt(c, s);
		break;
	case S_EITHER:
		for (struct stmt *i = s->body; i; i = i->next)
			check_body(c, i);
		break;
	case S_ASSUME:
	case S_ASSERT:
		c->ghosts = s->kind == S_ASSERT;
		check_value(c, s->value, "a condition");
		c->ghosts = false;
		break;
	case S_ATOMIC:
		check_atomic(c, s);
		break;
	case S_STEP:
		c->steps++;
		check_body(c, s->body);
		c->steps--;
		break;
	case S_COMMIT:
	case S_SKIP:
	case S_EMPTY:
		break;
	}
}

/* ---- does control reach the end? ---------------------------------------- */

static bool jumps(const struct stmt *s, enum stmt_kind kind)
{
	if (!s)
		return false;
	switch (s->kind) {
	case S_BREAK:
	case S_CONTINUE:
		return s->kind == kind;
	case S_BLOCK:
	case S_EITHER:
	case S_CASE:
		return list_jumps(s->body, kind);
	case S_SWITCH:
		return kind == S_CONTINUE && list_jumps(s->body, kind); /* a break in it is its own */
	case S_IF:
		return jumps(s->body, kind) || jumps(s->other, kind);
	case S_ATOMIC:
	case S_STEP:
		return jumps(s->body, kind);
	default:
		return false;
	}
}

bool list_jumps(const struct stmt *first, enum stmt_kind kind)
{
	for (const struct stmt *i = first; i; i = i->next)
		if (jumps(i, kind))
			return true;
	return false;
}

bool list_falls_through(struct checker *c, struct stmt *first)
{
	bool on = true, told = false;
	for (struct stmt *i = first; i; i = i->next) {
		if (!on && !told && i->kind != S_EMPTY) {
			diag_warn(c->d, i->kind == S_COMMIT ? "unreachable-commit" : "dead-code", c->src, i->head,
			          i->kind == S_COMMIT ? "this commit can never be reached" : "this statement can never be reached");
			told = true;
		}
		bool next = falls_through(c, i);
		on = on && next;
	}
	return on;
}

bool falls_through(struct checker *c, struct stmt *s)
{
	bool any = false;
	switch (s->kind) {
	case S_BLOCK:
		return list_falls_through(c, s->body);
	case S_IF:
		any = falls_through(c, s->body);
		return (s->other ? falls_through(c, s->other) : true) || any ||
		       (s->value->is_const && !s->value->value && !s->other);
	case S_WHILE:
	case S_FOR: {
		falls_through(c, s->body);
		bool endless = !s->value || (s->value->is_const && s->value->value);
		return !endless || jumps(s->body, S_BREAK);
	}
	case S_DO: {
		bool tested = falls_through(c, s->body) || jumps(s->body, S_CONTINUE);
		return (tested && !(s->value->is_const && s->value->value)) || jumps(s->body, S_BREAK);
	}
	case S_SWITCH:
		return switch_falls_through(c, s);
	case S_REPEAT:
		falls_through(c, s->body);
		return true;
	case S_EITHER:
		for (struct stmt *i = s->body; i; i = i->next)
			any |= falls_through(c, i);
		return any;
	case S_ATOMIC:
	case S_STEP:
		return falls_through(c, s->body);
	case S_ASSUME:
		return !(s->value->is_const && !s->value->value);
	case S_BREAK:
	case S_CONTINUE:
	case S_RETURN:
		return false;
	default:
		return true;
	}
}
