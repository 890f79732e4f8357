/*
 * parse_sml_expr: expressions and boolean expressions of SML, Fig. 2 of the
 * causal-atomicity paper.
 *
 * The paper's grammar is ambiguous; read as usual: * and / before + and -,
 * those before comparisons, then ¬, then ∨; from left to right. Since a
 * parenthesis may open either kind, one grammar reads both and the kinds are
 * checked where they meet.
 */
#include "lang/parse_sml.h"

static struct expr *parse_or(struct sml *s);

static bool is_bool(const struct expr *e)
{
	switch (e->kind) {
	case E_BOOL:
		return true;
	case E_UNARY:
		return e->op == OP_NOT;
	case E_BINARY:
		return e->op >= OP_EQ;
	default:
		return false;
	}
}

void sml_need_number(struct sml *s, const struct expr *e)
{
	if (!is_bool(e))
		return;
	diag_error(s->p.d, "type", s->p.src, e->span, "this is true or false, but a number is needed here");
	diag_hint(s->p.d, "all variables of SML are integers; keep a truth value as 0 or 1");
}

void sml_need_bool(struct sml *s, const struct expr *e)
{
	if (is_bool(e) || e->kind == E_ERROR)
		return;
	diag_error(s->p.d, "type", s->p.src, e->span, "this is a number, but a condition is needed here");
	if (e->kind == E_NAME)
		diag_hint(s->p.d, "compare it: %s != 0", intern_str(s->p.names, e->name));
	else
		diag_hint(s->p.d, "compare it with something, for example != 0");
}

bool sml_suggest(struct sml *s, name_id name, enum type_kind type)
{
	if (!s->p.d->last)
		return true; /* the message was one too many and dropped */
	const char *wanted = intern_str(s->p.names, name);
	const char *best = NULL;
	unsigned least = edit_slack(intern_len(s->p.names, name)) + 1;
	for (const struct decl *d = s->unit->decls; d; d = d->next) {
		if (d->kind != D_VAR || d->type->kind != type)
			continue;
		unsigned dist = edit_distance(wanted, intern_str(s->p.names, d->name), least);
		if (dist < least) {
			least = dist;
			best = intern_str(s->p.names, d->name);
		}
	}
	if (best)
		diag_hint(s->p.d, "did you mean '%s'?", best);
	return best != NULL;
}

static void declare_local(struct sml *s, const struct token *t)
{
	struct decl *d = arena_new(s->p.arena, struct decl);
	d->kind = D_VAR;
	d->name = t->value;
	d->span = d->name_span = tok_span(t);
	d->type = arena_new(s->p.arena, struct type_ref);
	d->type->kind = TY_INT;
	d->type->span = tok_span(t);
	d->first_of_group = true;
	*s->local = d;
	s->local = &d->next;
	s->seen[t->value] = s->thread;
}

struct expr *sml_variable(struct sml *s)
{
	const struct token *t = tok_next(&s->p);
	const char *name = intern_str(s->p.names, t->value);
	enum sml_name kind = (enum sml_name)s->kind[t->value];
	if (kind == SML_LOCK) {
		diag_error(s->p.d, "type", s->p.src, tok_span(t), "'%s' is a lock, not a number", name);
		diag_hint(s->p.d, "locks can only be acquired and released");
		return expr_new(&s->p, E_ERROR, tok_span(t));
	}
	if (kind == SML_FREE && name[0] >= 'A' && name[0] <= 'Z') {
		diag_error(s->p.d, "undeclared-name", s->p.src, tok_span(t), "the global variable '%s' is not declared", name);
		if (!sml_suggest(s, t->value, TY_INT))
			diag_hint(s->p.d,
			          "declare it before the first thread: int %s; "
			          "locals begin with a lower-case letter",
			          name);
		s->kind[t->value] = kind = SML_REPORTED;
	}
	if (kind == SML_REPORTED)
		return expr_new(&s->p, E_ERROR, tok_span(t));
	if (kind == SML_FREE && s->seen[t->value] != s->thread)
		declare_local(s, t);
	struct expr *e = expr_new(&s->p, E_NAME, tok_span(t));
	e->name = t->value;
	e->name_span = tok_span(t);
	return expr_grown(&s->p, e);
}

/* number := ["-"] INT */
static struct expr *parse_number(struct sml *s)
{
	struct parser *p = &s->p;
	uint32_t start = peek(p)->start;
	bool negative = tok_accept(p, T_MINUS);
	const struct token *t = tok_next(p);
	struct expr *e = expr_new(p, E_INT, span_from(p, start));
	e->value = negative ? -(int64_t)t->value : t->value;
	return expr_grown(p, e);
}

/* After a name: what other languages have there and SML has not. */
static bool foreign_suffix(struct sml *s, const struct expr *name)
{
	struct parser *p = &s->p;
	const char *what = NULL;
	if (peek_kind(p) == T_LBRACK)
		what = "arrays";
	else if (peek_kind(p) == T_LPAREN)
		what = "procedures";
	else if (peek_kind(p) == T_DOT)
		what = "objects";
	if (!what || p->panic)
		return false;
	diag_error(p->d, "foreign-word", p->src, (struct span){ name->span.start, peek(p)->end }, "SML has no %s", what);
	diag_hint(p->d, "a model that needs them can be written as an .atm file");
	p->panic = true;
	return true;
}

/* primary := number | NAME | "true" | "false" | "(" or ")" */
static struct expr *parse_primary(struct sml *s)
{
	struct parser *p = &s->p;
	const struct token *t = peek(p);
	struct expr *e;
	switch (t->kind) {
	case T_MINUS:
		if (peek_at(p, 1) == T_INT)
			return parse_number(s);
		tok_expected(p, "an expression");
		diag_hint(p->d, "only a number may have a sign; write 0 - x");
		return expr_new(p, E_ERROR, tok_span(t));
	case T_INT:
		return parse_number(s);
	case T_TRUE:
	case T_FALSE:
		tok_next(p);
		e = expr_new(p, E_BOOL, tok_span(t));
		e->value = t->kind == T_TRUE;
		return expr_grown(p, e);
	case T_NAME:
		e = sml_variable(s);
		return foreign_suffix(s, e) ? expr_new(p, E_ERROR, e->span) : e;
	case T_LPAREN:
		if (!nest(p))
			return expr_new(p, E_ERROR, tok_span(t));
		tok_next(p);
		s->parens++;
		e = parse_or(s);
		s->parens--;
		unnest(p);
		tok_close(p, T_RPAREN, t);
		e->parens = true;
		e->span = span_from(p, t->start);
		return e;
	default:
		tok_expected(p, "an expression");
		return expr_new(p, E_ERROR, tok_span(t));
	}
}

static struct expr *binary(struct sml *s, enum op op, struct span op_span, struct expr *a, struct expr *b)
{
	struct expr *e = expr_new(&s->p, E_BINARY, (struct span){ a->span.start, b->span.end });
	e->op = op;
	e->op_span = op_span;
	e->a = a;
	e->b = b;
	return expr_grown(&s->p, e);
}

/* product := primary { ("*" | "/") primary } */
static struct expr *parse_product(struct sml *s)
{
	struct expr *e = parse_primary(s);
	for (;;) {
		const struct token *t = peek(&s->p);
		if (t->kind != T_STAR && t->kind != T_SLASH)
			return e;
		tok_next(&s->p);
		struct expr *right = parse_primary(s);
		sml_need_number(s, e);
		sml_need_number(s, right);
		e = binary(s, t->kind == T_STAR ? OP_MUL : OP_DIV, tok_span(t), e, right);
	}
}

/* sum := product { ("+" | "-") product } */
static struct expr *parse_sum(struct sml *s)
{
	struct expr *e = parse_product(s);
	for (;;) {
		const struct token *t = peek(&s->p);
		if (t->kind != T_PLUS && t->kind != T_MINUS)
			return e;
		tok_next(&s->p);
		struct expr *right = parse_product(s);
		sml_need_number(s, e);
		sml_need_number(s, right);
		e = binary(s, t->kind == T_PLUS ? OP_ADD : OP_SUB, tok_span(t), e, right);
	}
}

/* op := "<" | "≤" | ">" | "≥" | "=" | "! ="; consumed unless OP_NONE */
static enum op comparison(struct sml *s, struct span *at)
{
	struct parser *p = &s->p;
	enum op op = OP_NONE;
	*at = tok_span(peek(p));
	switch (peek_kind(p)) {
	case T_LT:
		op = OP_LT;
		break;
	case T_LE:
		op = OP_LE;
		break;
	case T_GT:
		op = OP_GT;
		break;
	case T_GE:
		op = OP_GE;
		break;
	case T_NE:
		op = OP_NE;
		break;
	case T_ASSIGN:
		op = OP_EQ;
		break;
	case T_EQ:
		op = OP_EQ;
		diag_error(p->d, "foreign-word", p->src, *at, "'==' is '=' in SML");
		break;
	case T_BANG: /* the figure prints it in two */
		if (peek_at(p, 1) == T_ASSIGN) {
			op = OP_NE;
			tok_next(p);
			at->end = peek(p)->end;
		}
		break;
	default:
		break;
	}
	if (op != OP_NONE)
		tok_next(p);
	return op;
}

/* compare := sum [ op sum ] */
static struct expr *parse_compare(struct sml *s)
{
	struct span at;
	struct expr *e = parse_sum(s);
	enum op op = comparison(s, &at);
	if (op == OP_NONE)
		return e;
	struct expr *right = parse_sum(s);
	sml_need_number(s, e);
	sml_need_number(s, right);
	e = binary(s, op, at, e, right);
	while (comparison(s, &at) != OP_NONE) {
		diag_error(s->p.d, "syntax", s->p.src, at, "comparisons cannot be chained");
		diag_hint(s->p.d, "compare in two nested ifs");
		parse_sum(s);
	}
	return e;
}

/* not := "¬" not | compare */
static struct expr *parse_not(struct sml *s)
{
	struct parser *p = &s->p;
	const struct token *t = peek(p);
	if (t->kind != T_BANG)
		return parse_compare(s);
	if (!nest(p))
		return expr_new(p, E_ERROR, tok_span(t));
	tok_next(p);
	struct expr *e = expr_new(p, E_UNARY, tok_span(t));
	e->op = OP_NOT;
	e->op_span = tok_span(t);
	e->a = parse_not(s);
	unnest(p);
	sml_need_bool(s, e->a);
	e->span = (struct span){ t->start, e->a->span.end };
	return expr_grown(p, e);
}

/* Operators that are not SML's but may be meant; consumed and reported. */
static bool foreign_operator(struct sml *s)
{
	struct parser *p = &s->p;
	const struct token *t = peek(p);
	if (p->panic)
		return false;
	switch (t->kind) {
	case T_ANDAND:
	case T_AMP:
		diag_error(p->d, "foreign-word", p->src, tok_span(t), "SML has no 'and'");
		diag_hint(p->d, "write !(!a | !b), or two nested ifs");
		break;
	case T_OROR:
		if (!s->parens)
			return false;
		diag_error(p->d, "foreign-word", p->src, tok_span(t), "'||' separates threads; 'or' is written | (or ∨)");
		break;
	case T_PERCENT:
	case T_CARET:
	case T_SHL:
	case T_SHR:
		diag_error(p->d, "foreign-word", p->src, tok_span(t), "SML has no %s; its operators are + - * /",
		           token_text(t->kind));
		break;
	default:
		return false;
	}
	tok_next(p);
	return true;
}

/* or := not { "∨" not } */
static struct expr *parse_or(struct sml *s)
{
	struct expr *e = parse_not(s);
	for (;;) {
		const struct token *t = peek(&s->p);
		if (foreign_operator(s)) {
			parse_not(s); /* only for its own messages */
			e = expr_new(&s->p, E_ERROR, e->span);
			continue;
		}
		if (t->kind != T_PIPE)
			return e;
		tok_next(&s->p);
		struct expr *right = parse_not(s);
		sml_need_bool(s, e);
		sml_need_bool(s, right);
		e = binary(s, OP_LOR, tok_span(t), e, right);
	}
}

struct expr *sml_expr(struct sml *s)
{
	if (!nest(&s->p))
		return expr_new(&s->p, E_ERROR, tok_span(peek(&s->p)));
	struct expr *e = parse_or(s);
	unnest(&s->p);
	return e;
}
