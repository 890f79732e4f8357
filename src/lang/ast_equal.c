/*
 * ast_equal: structural comparison of two trees, places apart. It is how the
 * formatter shows that it changed nothing. Recursion is as deep as the trees,
 * which the parsers bound.
 */
#include "lang/fmt.h"

static bool same_expr(const struct expr *a, const struct expr *b);
static bool same_decls(const struct decl *a, const struct decl *b);

static bool same_type(const struct type_ref *a, const struct type_ref *b)
{
	if (!a || !b)
		return a == b;
	return a->kind == b->kind && a->ranged == b->ranged && a->spurious == b->spurious && a->wrap == b->wrap &&
	       same_type(a->of, b->of) && a->name == b->name && same_expr(a->lo, b->lo) && same_expr(a->hi, b->hi) &&
	       same_decls(a->enum_def, b->enum_def) && same_decls(a->struct_def, b->struct_def);
}

static bool same_exprs(const struct expr *a, const struct expr *b)
{
	for (; a && b; a = a->next, b = b->next)
		if (!same_expr(a, b))
			return false;
	return a == b;
}

static bool same_expr(const struct expr *a, const struct expr *b)
{
	if (!a || !b)
		return a == b;
	return a->kind == b->kind && a->op == b->op && a->name == b->name && a->method == b->method && a->nargs == b->nargs &&
	       a->parens == b->parens && a->designator == b->designator &&
	       ((a->kind != E_INT && a->kind != E_BOOL) || a->value == b->value) && same_expr(a->a, b->a) &&
	       same_expr(a->b, b->b) && same_expr(a->c, b->c) && same_type(a->any_type, b->any_type) &&
	       same_exprs(a->args, b->args);
}

static bool same_stmts(const struct stmt *a, const struct stmt *b);

static bool same_stmt(const struct stmt *a, const struct stmt *b)
{
	return a->kind == b->kind && a->form == b->form && a->op == b->op && a->name == b->name &&
	       same_expr(a->target, b->target) && same_expr(a->value, b->value) && same_decls(a->decls, b->decls) &&
	       same_stmts(a->body, b->body) && same_stmts(a->other, b->other) && same_stmts(a->init, b->init) &&
	       same_stmts(a->advance, b->advance) && same_exprs(a->labels, b->labels) && a->is_default == b->is_default;
}

static bool same_stmts(const struct stmt *a, const struct stmt *b)
{
	for (; a && b; a = a->next, b = b->next)
		if (!same_stmt(a, b))
			return false;
	return a == b;
}

static bool same_decl(const struct decl *a, const struct decl *b)
{
	return a->kind == b->kind && a->name == b->name && same_type(a->type, b->type) && a->var_class == b->var_class &&
	       a->is_array == b->is_array && a->is_ghost == b->is_ghost && a->is_thread_local == b->is_thread_local &&
	       a->property == b->property && a->is_pool == b->is_pool && same_exprs(a->length, b->length) &&
	       same_exprs(a->init, b->init) && a->init_list == b->init_list && a->is_shared == b->is_shared &&
	       a->is_param == b->is_param && a->is_ref == b->is_ref && a->is_field == b->is_field &&
	       a->first_of_group == b->first_of_group && same_decls(a->members, b->members) && same_decls(a->params, b->params) &&
	       same_type(a->result, b->result) && same_stmts(a->body, b->body) && same_expr(a->count, b->count) &&
	       a->spec == b->spec && a->no_spec == b->no_spec && same_type(a->spec_type, b->spec_type) &&
	       same_decls(a->fields, b->fields) && same_decls(a->methods, b->methods);
}

static bool same_decls(const struct decl *a, const struct decl *b)
{
	for (; a && b; a = a->next, b = b->next)
		if (!same_decl(a, b))
			return false;
	return a == b;
}

bool ast_equal(const struct unit *a, const struct unit *b)
{
	return a->sml == b->sml && same_decls(a->decls, b->decls);
}
