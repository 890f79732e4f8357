/*
 * type: declarations; recursion; what is never used.
 *
 * Order: top-level names, constants and types first (so that order in the
 * file does not matter), then variables, then bodies, then the call graph.
 */
#include "lang/type.h"

#include <string.h>

#include "base/invariant.h"

/* ---- declarations ------------------------------------------------------- */

static void check_proc(struct checker *c, struct decl *p)
{
	assert(!c->loops && !c->steps && !c->atomics);
	uint32_t mark;
	c->proc = p;
	p->id = 0; /* head of its call list until lowering */
	scope_open(c, &mark);
	for (struct decl *d = p->params; d; d = d->next) {
		if (is_sync(d->type->kind) && !d->is_ref) {
			diag_error(c->d, "type", c->src, d->type->span, "%s is passed by reference", sync_a_word(d->type->kind));
			diag_hint(c->d, "write %s &%s", sync_word(d->type->kind), name_of(c, d->name));
		}
		if (d->is_ref && p->owner)
			diag_error(c->d, "object-signature", c->src, d->name_span,
			           "the parameters of an operation are passed by value");
		scope_declare(c, d);
		avec_push(c->arena, &c->locals, d);
	}
	/* parameters and the body's own locals are one scope, as in C */
	for (struct stmt *s = p->body->body; s; s = s->next)
		check_stmt(c, s);
	scope_close(c, mark);
	bool end = falls_through(c, p->body);
	if (p->result && end && !c->d->errors) {
		diag_error(c->d, "return-value", c->src, p->name_span, "'%s' can end without returning a value",
		           name_of(c, p->name));
		diag_hint(c->d, "every path needs a return");
	}
	c->proc = NULL;
}

static void check_signature(struct checker *c, struct decl *p)
{
	assert(p->kind == D_PROC);
	if (p->result) {
		check_type_ref(c, p->result);
		if (p->result->kind == TY_LOCK)
			diag_error(c->d, "type", c->src, p->result->span, "a lock cannot be returned");
		if (p->result->kind == TY_STRUCT) {
			diag_error(c->d, "type", c->src, p->result->span, "a struct cannot be returned");
			diag_hint(c->d, "return one field, or store the struct in a shared variable");
		}
	}
	for (struct decl *d = p->params; d; d = d->next)
		check_var(c, d);
}

static bool same_type(const struct type_ref *a, const struct type_ref *b)
{
	return a && b && a->kind == b->kind && a->min == b->min && a->max == b->max && a->enum_decl == b->enum_decl &&
	       a->wrap == b->wrap;
}

#define MANY_METHODS 16

/* A register has read() and write(v), both of the register's type. */
static void check_register(struct checker *c, struct decl *o)
{
	assert(o->kind == D_OBJECT);
	bool has_read = false, has_write = false;
	unsigned many = 0;
	for (struct decl *m = o->methods; m; m = m->next) {
		const char *n = name_of(c, m->name);
		if (!strcmp(n, "read")) {
			has_read = true;
			if (m->nparams || !same_type(m->result, o->spec_type)) {
				diag_error(c->d, "object-signature", c->src, m->name_span,
				           "a register's read takes nothing and returns the register's type");
			}
		} else if (!strcmp(n, "write")) {
			has_write = true;
			if (m->result || m->nparams != 1 || !same_type(m->params->type, o->spec_type))
				diag_error(c->d, "object-signature", c->src, m->name_span,
				           "a register's write takes a value of the register's "
				           "type and returns nothing");
		} else {
			diag_error(c->d, "object-signature", c->src, m->name_span,
			           "a register has the operations read and write, not '%s'", n);
			diag_hint(c->d, "helpers can be procedures outside the object");
		}
		if (++many == MANY_METHODS)
			m->next = NULL; /* enough said, and the rest would be slow to search */
	}
	if (!has_read || !has_write)
		diag_error(c->d, "object-signature", c->src, o->name_span, "the register '%s' needs %s", name_of(c, o->name),
		           !has_read && !has_write ? "read() and write(v)"
		           : has_read              ? "write(v)"
		                                   : "read()");
}

static void check_object(struct checker *c, struct decl *o)
{
	assert(o->kind == D_OBJECT);
	if (o->no_spec) {
		diag_error(c->d, "no-specification", c->src, o->name_span, "the object '%s' does not say what it implements",
		           name_of(c, o->name));
		diag_hint(c->d,
		          "object %s : register(bool) { ... }; an object that is a specification itself "
		          "is for intact history --spec",
		          name_of(c, o->name));
	}
	if (!o->spec_type)
		return;
	check_type_ref(c, o->spec_type);
	if (o->spec_type->kind == TY_STRUCT) {
		diag_error(c->d, "type", c->src, o->spec_type->span, "a register of a struct is not supported");
		diag_hint(c->d, "use bool, int, a range or an enum");
		return;
	}
	bool known = true;
	if (strcmp(name_of(c, o->spec), "register")) {
		diag_error(c->d, "unknown-object", c->src, o->spec_span, "unknown specification '%s'", name_of(c, o->spec));
		diag_hint(c->d, "known: register(type)");
		known = false;
	}
	int64_t v = default_value(o->spec_type);
	if (o->init)
		check_const(c, o->init, "an object's initial value", &v);
	if (v < o->spec_type->min || v > o->spec_type->max)
		diag_error(c->d, "out-of-range", c->src, o->init->span, "the initial value %lld is outside %d..%d", (long long)v,
		           o->spec_type->min, o->spec_type->max);
	o->value = v;
	for (struct decl *f = o->fields; f; f = f->next)
		check_var(c, f);
	for (struct decl *m = o->methods; m; m = m->next)
		check_signature(c, m);
	if (known)
		check_register(c, o);
}

static void check_object_bodies(struct checker *c, struct decl *o)
{
	assert(!c->object);
	uint32_t mark;
	c->object = o;
	scope_open(c, &mark);
	for (struct decl *f = o->fields; f; f = f->next)
		scope_declare(c, f);
	for (struct decl *m = o->methods; m; m = m->next) {
		for (struct decl *other = o->methods; other != m; other = other->next)
			if (other->name == m->name) {
				diag_error(c->d, "declared-twice", c->src, m->name_span, "'%s' is declared twice",
				           name_of(c, m->name));
				diag_note(c->d, c->src, other->name_span, "first declared here");
			}
		m->owner = o;
		check_proc(c, m);
	}
	scope_close(c, mark);
	c->object = NULL;
}

static void declare_enum(struct checker *c, struct decl *e)
{
	assert(e->kind == D_ENUM);
	int64_t n = 0;
	if (e->mark)
		return;
	e->mark = 1;
	scope_declare(c, e);
	for (struct decl *m = e->members; m; m = m->next) {
		m->owner = e;
		m->value = n++;
		scope_declare(c, m);
	}
	if (!e->is_pool) /* check_pool_size */
		e->value = n;
	assert(e->value >= 0);
}

static void declare_struct(struct checker *c, struct decl *s)
{
	assert(s->kind == D_STRUCT);
	if (s->declared)
		return;
	s->declared = true;
	scope_declare(c, s);
	for (struct decl *f = s->fields; f; f = f->next)
		declare_type(c, f->type);
}

/* Enums and structs may be defined inside any type: all of them first. */
void declare_type(struct checker *c, struct type_ref *ty)
{
	if (ty && ty->enum_def)
		declare_enum(c, ty->enum_def);
	if (ty && ty->struct_def)
		declare_struct(c, ty->struct_def);
	if (ty && ty->of)
		declare_type(c, ty->of);
}

static void declare_types_of(struct checker *c, struct decl *d)
{
	declare_type(c, d->type);
	declare_type(c, d->result);
	declare_type(c, d->spec_type);
	for (struct decl *p = d->params; p; p = p->next)
		declare_type(c, p->type);
	for (struct decl *p = d->fields; p; p = p->next)
		declare_type(c, p->type);
	for (struct decl *p = d->methods; p; p = p->next)
		declare_types_of(c, p);
}

static void declare_top(struct checker *c)
{
	for (struct decl *d = c->u->decls; d; d = d->next) {
		declare_types_of(c, d);
		if (d->kind == D_ENUM)
			declare_enum(c, d);
		else if (d->kind == D_STRUCT)
			declare_struct(c, d);
		else if (d->kind != D_PROPERTY && (d->kind != D_THREAD || !c->u->sml))
			scope_declare(c, d); /* SML's T1, T2, ... are no names of its own */
	}
}

static void check_thread_count(struct checker *c, struct decl *t)
{
	assert(t->kind == D_THREAD);
	t->value = 1;
	if (!t->count)
		return;
	int64_t n = 1;
	if (check_const(c, t->count, "the number of threads", &n) && (n < 1 || n > 10000)) {
		diag_error(c->d, "thread-count", c->src, t->count->span, "a thread is started 1 to 10000 times, not %lld",
		           (long long)n);
		n = 1;
	}
	t->value = n;
}

/* ---- the call graph ----------------------------------------------------- */

/* Reports the cycle that closes when `to` is called again. */
static void report_cycle(struct checker *c, uint32_t *stack, uint32_t n, struct decl *to)
{
	assert(n);
	uint32_t first = n;
	while (first > 0 && c->calls.data[stack[first - 1]].from != to)
		first--;
	if (first > 0)
		first--;
	struct call_edge *e = &c->calls.data[stack[n - 1]];
	diag_error(c->d, "recursion", c->src, e->at,
	           n - first <= 1 ? "'%s' calls itself: procedures are inlined and cannot recurse"
	                          : "'%s' calls itself through others: procedures are "
	                            "inlined and cannot recurse",
	           name_of(c, to->name));
	for (uint32_t i = first; n - first > 1 && i < n && i < first + 8; i++) {
		struct call_edge *s = &c->calls.data[stack[i]];
		diag_note(c->d, c->src, s->at, "'%s' calls '%s' here", name_of(c, s->from->name), name_of(c, s->to->name));
	}
}

/* Depth-first over calls, iteratively; mark 1 = on the stack, 2 = done. */
static void find_recursion(struct checker *c, struct decl *root)
{
	AVEC(uint32_t) stack = { 0 };
	struct decl *at = root;
	if (root->mark)
		return;
	root->mark = 1;
	uint32_t edge = root->id;
	for (;;) {
		if (edge) {
			struct decl *to = c->calls.data[edge].to;
			avec_push(c->arena, &stack, edge);
			if (to->mark == 1) {
				report_cycle(c, stack.data, stack.len, to);
			} else if (!to->mark) {
				to->mark = 1;
				at = to;
				edge = to->id;
				continue;
			}
			stack.len--;
			edge = c->calls.data[edge].next;
			continue;
		}
		at->mark = 2;
		if (!stack.len)
			return;
		struct call_edge *back = &c->calls.data[stack.data[--stack.len]];
		at = back->from;
		edge = back->next;
	}
}

static void check_calls(struct checker *c)
{
	for (struct decl *d = c->u->decls; d; d = d->next) {
		if (d->kind == D_PROC || d->kind == D_THREAD)
			find_recursion(c, d);
		for (struct decl *m = d->methods; m; m = m->next)
			find_recursion(c, m);
	}
}

/* ---- what is never used ------------------------------------------------- */

static void warn_unused(struct checker *c)
{
	assert(!c->d->errors);
	for (struct decl *d = c->u->decls; d; d = d->next) {
		if (d->kind == D_VAR && !d->reads && d->writes <= (d->init != NULL))
			diag_warn(c->d, "unused", c->src, d->name_span, "the %s '%s' is never used",
			          is_sync(d->type->kind) ? sync_word(d->type->kind) : "variable", name_of(c, d->name));
		else if (d->kind == D_PROC && !d->reads)
			diag_warn(c->d, "unused", c->src, d->name_span, "the procedure '%s' is never called", name_of(c, d->name));
		else if (d->kind == D_OBJECT && !d->reads)
			diag_warn(c->d, "unused", c->src, d->name_span, "the object '%s' is never used", name_of(c, d->name));
	}
	for (uint32_t i = 0; i < c->locals.len; i++) {
		struct decl *d = c->locals.data[i];
		if (d->reads || c->u->sml || (d->is_ref && d->writes))
			continue;
		bool set = d->writes > (d->init != NULL);
		diag_warn(c->d, "unused", c->src, d->name_span,
		          set           ? "'%s' is set but never read, so it has no effect on any verdict"
		          : d->is_param ? "the parameter '%s' is never used"
		                        : "the variable '%s' is never used",
		          name_of(c, d->name));
	}
}

void type_check(struct unit *u, struct intern *names, struct arena *a, struct diags *d)
{
	assert(u->src && names && d);
	struct checker c = { .u = u, .src = u->src, .names = names, .arena = a, .d = d };
	uint32_t mark, threads = 0;
	c.bound = arena_array(a, struct decl *, names->strs.len);
	c.bound_depth = arena_array(a, uint32_t, names->strs.len);
	struct call_edge none = { 0 };
	avec_push(a, &c.calls, none);
	scope_open(&c, &mark);
	declare_top(&c);
	for (struct decl *t = u->decls; t; t = t->next)
		if (t->kind == D_ENUM && t->is_pool)
			check_pool_size(&c, t);
	for (struct decl *t = u->decls; t; t = t->next)
		if (t->kind == D_CONST && t->mark != 2 && t->init) {
			t->mark = 1;
			check_const(&c, t->init, "a constant's value", &t->value);
			t->mark = 2;
		}
	for (struct decl *t = u->decls; t; t = t->next) {
		if (t->kind == D_VAR) {
			check_var(&c, t);
			check_qualified_var(&c, t);
		} else if (t->kind == D_ENUM && t->is_pool)
			check_pool(&c, t);
		else if (t->kind == D_STRUCT)
			check_struct(&c, t, 0);
		else if (t->kind == D_PROC)
			check_signature(&c, t);
		else if (t->kind == D_OBJECT)
			check_object(&c, t);
	}
	for (struct decl *t = u->decls; t; t = t->next) {
		if (t->kind == D_PROC) {
			check_proc(&c, t);
		} else if (t->kind == D_OBJECT) {
			check_object_bodies(&c, t);
		} else if (t->kind == D_PROPERTY) {
			check_property(&c, t);
		} else if (t->kind == D_THREAD) {
			check_thread_count(&c, t);
			check_proc(&c, t);
			threads++;
		}
	}
	scope_close(&c, mark);
	if (!threads && !d->errors) {
		diag_error(d, "no-threads", u->src, (struct span){ 0, 0 }, "the model has no thread");
		diag_hint(d, u->sml ? "a thread is a list of statements after the definitions" : "thread name { ... } starts one");
	}
	check_calls(&c);
	if (!d->errors)
		warn_unused(&c);
}
