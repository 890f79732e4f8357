/*
 * type_property: conditions on all states (`always`, `finally`, `can always reach`), and the variables that are there for them.
 *
 * A condition is looked at in a state; it is no step of any thread. So it names shared variables, constants and counts of threads,
 * and nothing that acts: no call, no cas, no any(). A ghost is a shared variable that only conditions, assertions and
 * assignments to ghosts may name: what the program does never depends on it.
 */
#include <string.h>

#include "base/invariant.h"
#include "lang/type.h"

/* ---- ghosts and thread-local variables ----------------------------------- */

bool is_ghost_place(const struct checker *c, const struct expr *e)
{
	const struct decl *d = is_place(e) ? c->bound[e->name] : NULL;
	return d && d->kind == D_VAR && d->is_ghost;
}

void check_ghost_use(struct checker *c, struct expr *e)
{
	const struct decl *d = e->decl;
	if (c->ghosts || !d || d->kind != D_VAR || !whole_of((struct decl *)d)->is_ghost)
		return;
	diag_error(c->d, "ghost", c->src, e->span, "'%s' is a ghost: what the program does cannot depend on it", var_name(c, d));
	diag_note(c->d, c->src, whole_of((struct decl *)d)->name_span, "declared here");
	diag_hint(c->d, "a ghost is named in always, finally, can always reach and assert, and assigned like any variable");
	e->decl = NULL;
	e->shared = false;
}

void check_qualified_var(struct checker *c, struct decl *d)
{
	assert(d->kind == D_VAR);
	if (!d->is_ghost && !d->is_thread_local)
		return;
	const char *word = d->is_ghost ? "ghost" : "thread_local";
	bool sync = is_sync(d->type->kind) ||
	            (d->type->kind == TY_STRUCT && d->type->struct_decl && d->type->struct_decl->has_sync);
	if (sync && d->is_ghost) {
		diag_error(c->d, "ghost", c->src, d->type->span, "a ghost holds values; it cannot be or contain %s",
		           is_sync(d->type->kind) ? sync_a_word(d->type->kind) : "a synchronisation object");
	} else if (sync && is_sync(d->type->kind)) {
		diag_error(c->d, "misplaced", c->src, d->class_span, "%s is shared by all threads: omit '%s'",
		           sync_a_word(d->type->kind), word);
	}
	int64_t v;
	for (struct expr *e = d->is_thread_local ? d->init : NULL; e; e = e->next)
		if (e->kind != E_LIST)
			check_const(c, e, "an initial value of a thread_local variable", &v);
}

/* ---- conditions ---------------------------------------------------------- */

static void report_action(struct checker *c, const struct expr *e, const char *what)
{
	diag_error(c->d, "condition", c->src, e->span, "a condition on states only looks at them: %s is an action of a thread",
	           what);
	diag_hint(c->d, "let a thread do it and store what it finds in a ghost variable");
}

/* Something in a condition that is not looked at but done, or that no state shows. */
static const struct expr *find_action(const struct expr *e, const char **what)
{
	const struct expr *list = NULL, *found = NULL;
	if (!e)
		return NULL;
	switch (e->kind) {
	case E_CALL:
		if (e->sync == SYNC_INSIDE || e->sync == SYNC_HELD || e->sync == SYNC_LEAKED)
			return NULL;
		*what = "a call";
		return e;
	case E_METHOD:
		*what = "an operation";
		return e;
	case E_CAS:
		*what = "cas";
		return e;
	case E_XCHG:
		*what = "exchange";
		return e;
	case E_FADD:
		*what = "fetch_add";
		return e;
	case E_ANY:
		*what = "any";
		return e;
	case E_PATH:
		list = e->args;
		break;
	default:
		break;
	}
	for (; list && !found; list = list->next)
		found = find_action(list->a, what);
	found = found ? found : find_action(e->a, what);
	found = found ? found : find_action(e->b, what);
	return found ? found : find_action(e->c, what);
}

/* A variable that is not one value in each state. */
static const struct expr *find_unseen(const struct expr *e, bool local)
{
	const struct expr *found = NULL;
	if (!e || e->kind == E_CALL)
		return NULL;
	if (is_place(e) && e->decl && e->decl->kind == D_VAR && (local ? !e->decl->is_shared : e->decl->var_class != VAR_PLAIN))
		return e;
	for (const struct expr *x = e->kind == E_PATH ? e->args : NULL; x && !found; x = x->next)
		found = find_unseen(x->a, local);
	found = found ? found : find_unseen(e->a, local);
	found = found ? found : find_unseen(e->b, local);
	return found ? found : find_unseen(e->c, local);
}

bool check_property_call(struct checker *c, struct expr *e)
{
	const char *word = name_of(c, e->name);
	bool inside = !strcmp(word, "inside"), held = !strcmp(word, "held");
	if (c->bound[e->name] || (!inside && !held))
		return false;
	struct expr *arg = e->args;
	if (!c->property) {
		diag_error(c->d, "condition", c->src, e->span, "%s is for conditions on states: always, finally, can always reach",
		           word);
		diag_hint(c->d,
		          inside ? "count the threads in a shared variable" : "what a thread holds is known where it is written");
		e->type = TY_INT;
		return true;
	}
	if (e->nargs != 1) {
		diag_error(c->d, "argument-count", c->src, e->span, "%s takes 1 argument, not %u", word, e->nargs);
		diag_hint(c->d, inside ? "it is written inside(block)" : "it is written held(l)");
		e->type = TY_INT;
		return true;
	}
	e->shared = true;
	e->type = inside ? TY_INT : TY_BOOL;
	e->sync = inside ? SYNC_INSIDE : SYNC_HELD;
	if (inside && (arg->kind == E_NAME || (arg->kind == E_PATH && arg->nargs == 1 && arg->args->kind == E_FIELD)))
		return true; /* a block's name: known when the threads are lowered */
	if (inside) {
		diag_error(c->d, "condition", c->src, arg->span, "inside needs the name of an atomic block");
		diag_hint(c->d, "as in inside(update) or inside(worker.update)");
		return true;
	}
	check_expr(c, arg);
	if (arg->decl && (arg->decl->kind != D_VAR || arg->decl->type->kind != TY_LOCK || !arg->decl->is_shared)) {
		diag_error(c->d, "not-a-lock", c->src, arg->span, "held needs a lock; '%s' is %s", var_name(c, arg->decl),
		           arg->decl->kind == D_VAR ? type_text(c, arg->decl->type->kind, arg->decl->type->enum_decl)
		                                    : "a constant");
		arg->decl = NULL;
	}
	return true;
}

void check_property(struct checker *c, struct decl *d)
{
	assert(d->kind == D_PROPERTY && d->init && !c->proc);
	uint32_t before = c->d->errors;
	const char *what = NULL;
	c->property = d;
	c->ghosts = true;
	check_value(c, d->init, "a condition");
	c->property = NULL;
	c->ghosts = false;
	if (++c->properties == IR_MAX_PROPERTIES + 1)
		diag_error(c->d, "too-large", c->src, d->name_span, "a model has at most %u conditions on states",
		           IR_MAX_PROPERTIES);
	if (c->d->errors > before || d->init->kind == E_ERROR)
		return;
	const struct expr *bad = find_action(d->init, &what);
	if (bad) {
		report_action(c, bad, what);
	} else if ((bad = find_unseen(d->init, true)) != NULL) {
		diag_error(c->d, "condition", c->src, bad->span,
		           "'%s' is local to threads: no state of the program has one value of it", var_name(c, bad->decl));
		diag_hint(c->d, "copy it to a ghost variable: ghost int g; and g = ...;");
	} else if ((bad = find_unseen(d->init, false)) != NULL) {
		diag_error(c->d, "condition", c->src, bad->span,
		           "'%s' is a %s register: its accesses take time, and no state shows it", var_name(c, bad->decl),
		           bad->decl->var_class == VAR_SAFE ? "safe" : "regular");
	} else if (!d->init->shared) {
		diag_error(c->d, "condition", c->src, d->init->span, "the condition looks at nothing shared, so it says nothing");
		diag_hint(c->d, "name a shared variable, or inside(block), the number of threads inside a block");
	}
}
