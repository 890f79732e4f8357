/*
 * parse_control: for, do and switch, one function a production.
 *
 * The words are not reserved: models may have variables and procedures of these names. They are words where a statement
 * begins and no assignment follows; the parser then changes the token's kind, so that the formatter need not guess.
 */
#include <string.h>

#include "lang/parse_atm.h"
#include "lang/parse_foreign.h"

static bool at_name(const struct parser *p, const char *word)
{
	return peek_kind(p) == T_NAME && !strcmp(intern_str(p->names, peek(p)->value), word);
}

/* The token at the cursor is a word of the language here. */
static void make_word(struct parser *p, enum tok kind)
{
	assert(peek_kind(p) == T_NAME || peek_kind(p) == T_COLON);
	p->toks.list[p->pos].kind = (uint8_t)kind;
}

/* After a mistake between parentheses: to the ')' that ends them, or to where a body or statement begins. */
static void skip_to_parenthesis(struct parser *p)
{
	uint32_t open = 0;
	for (;; p->pos++) {
		enum tok k = peek_kind(p);
		if (k == T_EOF || k == T_LBRACE || k == T_RBRACE)
			return;
		if (k == T_RPAREN && !open)
			return;
		open += k == T_LPAREN;
		open -= k == T_RPAREN;
	}
}

/* ---- for ---------------------------------------------------------------- */

static void hint_for(struct parser *p)
{
	diag_hint(p->d, "for (int i = 0; i < n; i++) { ... }");
}

/* simples := simple { "," simple } */
static struct stmt *parse_simples(struct parser *p)
{
	struct stmt *first = NULL, **tail = &first;
	do {
		*tail = parse_simple(p);
		tail = &(*tail)->next;
	} while (!p->panic && tok_accept(p, T_COMMA));
	return first;
}

/* Are there two ';' before the ')' that ends the parts? Reported here, or the parts would swallow what follows them. */
static bool three_parts(struct parser *p, const struct token *open)
{
	uint32_t i = p->pos, depth = 0, semicolons = 0;
	for (;; i++) {
		enum tok k = (enum tok)p->toks.list[i].kind;
		if (k == T_EOF || k == T_LBRACE || k == T_RBRACE || (k == T_RPAREN && !depth))
			break;
		depth += k == T_LPAREN;
		depth -= k == T_RPAREN;
		semicolons += k == T_SEMI;
	}
	if (semicolons == 2)
		return true;
	struct span at = { open->start, p->toks.list[i].kind == T_RPAREN ? p->toks.list[i].end : open->end };
	diag_error(p->d, "syntax", p->src, at, "'for' has three parts with ';' between them");
	hint_for(p);
	p->panic = true;
	return false;
}

/* parts := [ local | simples ] ";" [ expr ] ";" [ simples ] */
static void parse_for_parts(struct parser *p, struct stmt *s)
{
	bool local = at_type(p);
	if (local && peek_kind(p) != T_SAFE && peek_kind(p) != T_REGULAR && peek_kind(p) != T_LOCK)
		s->init = parse_local(p); /* with its ';' */
	else if (peek_kind(p) != T_SEMI)
		s->init = parse_simples(p);
	if ((!local && !tok_expect(p, T_SEMI, "after the first part of 'for'")) || p->panic)
		return;
	if (peek_kind(p) != T_SEMI) {
		s->value = parse_expr(p);
		if (peek_kind(p) == T_ASSIGN && !p->panic) {
			diag_error(p->d, "assign-in-condition", p->src, tok_span(peek(p)),
			           "'=' assigns, but the second part of 'for' is a condition");
			diag_hint(p->d, "to compare, write ==");
			tok_next(p);
			parse_expr(p);
		}
	}
	if (!tok_expect(p, T_SEMI, "after the condition of 'for'"))
		return;
	if (peek_kind(p) != T_RPAREN)
		s->advance = parse_simples(p);
}

/* for := "for" "(" parts ")" stmt */
static struct stmt *parse_for(struct parser *p)
{
	struct stmt *s = stmt_new(p, S_FOR);
	make_word(p, T_FOR);
	tok_next(p);
	const struct token *open = tok_expect(p, T_LPAREN, "behind 'for'");
	if (open) {
		if (three_parts(p, open))
			parse_for_parts(p, s);
		if (p->panic) {
			s->value = expr_new(p, E_ERROR, s->head); /* not an endless loop */
			skip_to_parenthesis(p);
		}
		tok_close(p, T_RPAREN, open);
		p->panic = p->panic && peek_kind(p) != T_LBRACE;
	} else {
		hint_for(p);
		s->value = expr_new(p, E_ERROR, s->head);
	}
	s->body = parse_stmt(p);
	return s;
}

/* ---- do ----------------------------------------------------------------- */

/* do := "do" stmt "while" condition ";" */
static struct stmt *parse_do(struct parser *p)
{
	struct stmt *s = stmt_new(p, S_DO);
	make_word(p, T_DO);
	tok_next(p);
	s->body = parse_stmt(p);
	s->tail = tok_span(peek(p));
	if (!tok_expect(p, T_WHILE, "and a condition after the body of 'do'")) {
		diag_hint(p->d, "do { ... } while (e);");
		s->value = expr_new(p, E_ERROR, s->tail);
		return s;
	}
	s->value = parse_condition(p, "while");
	s->span = span_from(p, s->head.start);
	semicolon(p, "after the statement");
	return s;
}

/* ---- switch ------------------------------------------------------------- */

static bool at_label(const struct parser *p)
{
	return (at_name(p, "case") && at_statement_word(p)) || (at_name(p, "default") && peek_at(p, 1) == T_COLON);
}

static void label_colon(struct parser *p)
{
	if (peek_kind(p) == T_COLON) {
		make_word(p, T_LABEL_COLON);
		tok_next(p);
		return;
	}
	bool range = peek_kind(p) == T_DOTDOT || peek_kind(p) == T_COMMA;
	tok_expect(p, T_COLON, "behind the value of 'case'");
	if (range)
		diag_hint(p->d, "a case has one value; several cases can share statements: case 1: case 2: ...");
	while (peek_kind(p) != T_COLON && !peek(p)->line_start && peek_kind(p) != T_RBRACE && peek_kind(p) != T_EOF)
		p->pos++;
	tok_accept(p, T_COLON);
	p->panic = false;
}

/* label := "case" expr ":" | "default" ":" */
static struct expr **parse_label(struct parser *p, struct stmt *s, struct expr **tail)
{
	struct span word = tok_span(peek(p));
	if (at_name(p, "default")) {
		if (s->is_default)
			diag_error(p->d, "case-twice", p->src, word, "a second 'default' in one switch");
		s->is_default = true;
		s->name_span = word;
		make_word(p, T_DEFAULT);
		tok_next(p);
		label_colon(p);
		return tail;
	}
	make_word(p, T_CASE);
	tok_next(p);
	struct expr *e = parse_expr(p);
	*tail = e;
	label_colon(p);
	return &e->next;
}

/* case := label { label } { stmt } */
static struct stmt *parse_case(struct parser *p)
{
	struct stmt *s = stmt_new(p, S_CASE);
	struct expr **tail = &s->labels;
	while (at_label(p))
		tail = parse_label(p, s, tail);
	struct stmt **body = &s->body;
	while (!at_label(p) && peek_kind(p) != T_RBRACE && peek_kind(p) != T_EOF && peek_kind(p) != T_THREAD &&
	       peek_kind(p) != T_PROC && peek_kind(p) != T_OBJECT) {
		uint32_t before = p->pos;
		*body = parse_stmt(p);
		body = &(*body)->next;
		if (p->panic)
			tok_recover(p);
		if (p->pos == before)
			p->pos++; /* always advance */
		p->panic = false;
	}
	s->span = span_from(p, s->head.start);
	return s;
}

/* switch := "switch" condition "{" { case } "}" */
static struct stmt *parse_switch(struct parser *p)
{
	struct stmt *s = stmt_new(p, S_SWITCH), **tail = &s->body;
	make_word(p, T_SWITCH);
	tok_next(p);
	s->value = parse_condition(p, "switch");
	s->tail = tok_span(peek(p));
	const struct token *open = tok_expect(p, T_LBRACE, "with the cases of the switch");
	if (!open)
		return s;
	while (at_label(p)) {
		*tail = parse_case(p);
		tail = &(*tail)->next;
	}
	if (!s->body && !p->panic) {
		bool empty = peek_kind(p) == T_RBRACE;
		diag_error(p->d, "syntax", p->src, empty ? s->head : tok_span(peek(p)),
		           empty ? "the switch has no case"
		                 : "expected 'case' or 'default', found a statement before the first case");
		diag_hint(p->d, "switch (x) { case 0: ...; break; default: ... }");
		while (!empty && !at_label(p) && peek_kind(p) != T_RBRACE && peek_kind(p) != T_EOF) {
			tok_recover(p);
			p->panic = false;
		}
		while (at_label(p))
			parse_case(p);
	}
	s->close = peek(p)->start;
	tok_close(p, T_RBRACE, open);
	s->span = span_from(p, s->head.start);
	return s;
}

/* A label that is in no switch: reported and skipped. */
static struct stmt *stray_label(struct parser *p)
{
	struct stmt *s = stmt_new(p, S_EMPTY), label = { 0 };
	struct expr *value = NULL;
	diag_error(p->d, "misplaced", p->src, tok_span(peek(p)), "'%s' outside a switch", intern_str(p->names, peek(p)->value));
	diag_hint(p->d, "labels stand directly in the braces of a switch, not in a block inside it");
	parse_label(p, &label, &value);
	return s;
}

struct stmt *parse_control(struct parser *p)
{
	if (!at_statement_word(p))
		return NULL;
	if (at_name(p, "for"))
		return parse_for(p);
	if (at_name(p, "do"))
		return parse_do(p);
	if (at_name(p, "switch"))
		return parse_switch(p);
	bool label = at_label(p) && (peek_at(p, 1) == T_COLON || peek_at(p, 2) == T_COLON);
	return label ? stray_label(p) : NULL;
}
