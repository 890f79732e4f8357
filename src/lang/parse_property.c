/*
 * parse_property: what a model says of the states of the whole program, one function a production.
 *
 * None of the words is reserved: each is a word at the top level where such a declaration begins, unless the model declares a
 * type of that name and the word is followed by a name.
 */
#include <string.h>

#include "base/invariant.h"
#include "lang/parse_atm.h"

static bool is_word(const struct parser *p, uint32_t ahead, const char *word)
{
	uint32_t at = p->pos + ahead;
	return peek_at(p, ahead) == T_NAME && !strcmp(intern_str(p->names, p->toks.list[at].value), word);
}

/* Is there a declaration of a type with the name at the cursor? Asked once a declaration that begins with such a word; models
 * have few of them, hostile ones no more than MANY. */
static bool is_type_name(struct parser *p)
{
	enum { MANY = 4096 };
	name_id name = peek(p)->value;
	if (p->asked_types++ > MANY)
		return false;
	for (uint32_t i = 1; i < p->toks.n; i++) {
		const struct token *t = &p->toks.list[i], *before = t - 1;
		if (t->kind == T_NAME && t->value == name &&
		    (before->kind == T_ENUM || before->kind == T_STRUCT ||
		     (before->kind == T_NAME && (!strcmp(intern_str(p->names, before->value), "struct") ||
		                                 !strcmp(intern_str(p->names, before->value), "pool")))))
			return true;
	}
	return false;
}

bool at_property(struct parser *p)
{
	enum tok next = peek_at(p, 1);
	if (is_word(p, 0, "can"))
		return is_word(p, 1, "always") && is_word(p, 2, "reach") && !(peek_at(p, 3) == T_SEMI && is_type_name(p));
	if (!is_word(p, 0, "always") && !is_word(p, 0, "finally"))
		return false;
	if (next == T_ASSIGN || next == T_WALRUS || next == T_EOF || (next >= T_PLUS_EQ && next <= T_SHR_EQ))
		return false;
	return next != T_NAME || !is_type_name(p);
}

bool at_ghost(struct parser *p)
{
	enum tok next = peek_at(p, 1);
	if (!is_word(p, 0, "ghost") && !is_word(p, 0, "thread_local"))
		return false;
	if (next == T_BOOL || next == T_INT_TYPE || next == T_ENUM || next == T_LOCK)
		return true;
	return next == T_NAME && peek_at(p, 2) == T_NAME && !is_type_name(p);
}

/* pool NAME "[" */
bool at_pool(struct parser *p)
{
	return is_word(p, 0, "pool") && peek_at(p, 1) == T_NAME && peek_at(p, 2) == T_LBRACK && !is_type_name(p);
}

/* struct lock { ... }; pool object[4] { ... }; - a word of the language where the name belongs. */
bool at_reserved_name(struct parser *p)
{
	enum tok next = peek_at(p, 1);
	bool pool = is_word(p, 0, "pool");
	if ((!pool && !is_word(p, 0, "struct")) || next < T_BOOL || next >= T_FOR)
		return false;
	tok_next(p);
	tok_expect(p, T_NAME, pool ? "of the pool" : "of the struct");
	diag_hint(p->d, "%s is a word of the language: choose another name", token_text(next));
	for (int depth = 0; peek_kind(p) != T_EOF && (depth > 0 || peek_kind(p) != T_SEMI);) { /* past the fields */
		enum tok t = tok_next(p)->kind;
		depth += (t == T_LBRACE) - (t == T_RBRACE);
	}
	tok_accept(p, T_SEMI);
	p->panic = false;
	return true;
}

/* property := "always" expr ";" | "finally" expr ";" | "can" "always" "reach" expr ";" */
struct decl *parse_property(struct parser *p)
{
	assert(peek_kind(p) == T_NAME);
	struct decl *d = arena_new(p->arena, struct decl);
	const struct token *first = peek(p);
	d->kind = D_PROPERTY;
	d->property = is_word(p, 0, "always") ? IRP_ALWAYS : is_word(p, 0, "finally") ? IRP_FINALLY : IRP_REACH;
	for (int i = d->property == IRP_REACH ? 3 : 1; i; i--)
		tok_next(p);
	d->name_span = span_from(p, first->start);
	if (peek_kind(p) == T_SEMI) {
		tok_expected(p, "a condition");
		diag_hint(p->d, "as in %s count <= 1;",
		          d->property == IRP_ALWAYS    ? "always"
		          : d->property == IRP_FINALLY ? "finally"
		                                       : "can always reach");
		p->panic = false;
		d->init = expr_new(p, E_ERROR, tok_span(peek(p)));
	} else {
		d->init = parse_expr(p);
	}
	d->span = span_from(p, first->start);
	semicolon(p, "after the condition");
	return d;
}
