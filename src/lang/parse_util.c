#include "base/invariant.h"
#include "lang/parse.h"

struct span span_from(const struct parser *p, uint32_t start)
{
	assert(p->pos < p->toks.n);
	uint32_t end = p->pos ? p->toks.list[p->pos - 1].end : start;
	return (struct span){ start, end < start ? start : end };
}

const struct token *tok_next(struct parser *p)
{
	const struct token *t = peek(p);
	if (t->kind != T_EOF)
		p->pos++;
	p->panic = false;
	assert(p->pos < p->toks.n);
	return t;
}

bool tok_accept(struct parser *p, enum tok kind)
{
	if (peek_kind(p) != kind)
		return false;
	tok_next(p);
	return true;
}

/* Where a missing mark belongs: after the previous token, if the line or the
 * file ended there; at the unexpected token otherwise. */
static struct span missing_at(const struct parser *p, enum tok kind)
{
	assert(kind < T_COUNT);
	const struct token *t = peek(p);
	if (p->pos && (t->kind == T_EOF || (t->line_start && (kind == T_SEMI || kind == T_RPAREN || kind == T_RBRACK)))) {
		uint32_t end = p->toks.list[p->pos - 1].end;
		return (struct span){ end, end };
	}
	return tok_span(t);
}

static const char *found_text(const struct parser *p, char *room, size_t size)
{
	const struct token *t = peek(p);
	if (t->kind != T_NAME && t->kind != T_INT)
		return token_text(t->kind);
	uint32_t len = t->end - t->start;
	snprintf(room, size, "'%.*s'", (int)(len > 40 ? 40 : len), p->src->text + t->start);
	return room;
}

void tok_expected(struct parser *p, const char *what)
{
	char room[64];
	if (p->panic || p->gave_up)
		return;
	diag_error(p->d, "syntax", p->src, missing_at(p, T_NAME), "expected %s, found %s", what, found_text(p, room, sizeof room));
	p->panic = true;
}

const struct token *tok_expect(struct parser *p, enum tok kind, const char *where)
{
	assert(kind < T_COUNT);
	if (peek_kind(p) == kind)
		return tok_next(p);
	if (p->panic || p->gave_up)
		return NULL;
	char room[64];
	diag_error(p->d, "syntax", p->src, missing_at(p, kind), "expected %s%s%s, found %s", token_text(kind), where ? " " : "",
	           where ? where : "", found_text(p, room, sizeof room));
	p->panic = true;
	return NULL;
}

static uint32_t indent_of_line(const struct parser *p, uint32_t offset)
{
	assert(offset <= p->src->len);
	size_t len, n = 0;
	const char *s = source_line(p->src, source_line_of(p->src, offset), &len);
	uint32_t col = 0;
	for (; n < len && (s[n] == ' ' || s[n] == '\t'); n++)
		col = s[n] == ' ' ? col + 1 : (col / 8 + 1) * 8;
	return col;
}

/* Remembers the first '}' that is further left than the line it closes: when
 * a brace turns out to be missing, it is missing before that one. */
static void compare_indents(struct parser *p, const struct token *open)
{
	const struct token *close = peek(p);
	if (!close->line_start || indent_of_line(p, close->start) >= indent_of_line(p, open->start))
		return;
	p->odd_open = (uint32_t)(open - p->toks.list);
	p->odd_close = p->pos;
	assert(p->odd_open < p->odd_close);
}

bool tok_close(struct parser *p, enum tok kind, const struct token *open)
{
	assert(open >= p->toks.list && open < p->toks.list + p->pos);
	if (peek_kind(p) == kind) {
		if (kind == T_RBRACE && !p->odd_close)
			compare_indents(p, open);
		tok_next(p);
		return true;
	}
	if (p->panic || p->gave_up)
		return false;
	char room[64];
	diag_error(p->d, "unclosed", p->src, missing_at(p, kind), "expected %s to close the %s of line %u, found %s",
	           token_text(kind), token_text(open->kind), source_line_of(p->src, open->start), found_text(p, room, sizeof room));
	diag_note(p->d, p->src, tok_span(open), "%s opened here", token_text(open->kind));
	if (kind == T_RBRACE && p->odd_close && p->toks.list[p->odd_open].start > open->start)
		diag_note(p->d, p->src, tok_span(&p->toks.list[p->odd_close]),
		          "this '}' closes the '{' of line %u, although its indentation suggests otherwise",
		          source_line_of(p->src, p->toks.list[p->odd_open].start));
	p->panic = true;
	return false;
}

bool nest(struct parser *p)
{
	if (++p->depth <= PARSE_DEPTH)
		return true;
	p->depth--;
	if (!p->too_deep) {
		diag_error(p->d, "too-deep", p->src, tok_span(peek(p)), "nested more than %d levels deep", PARSE_DEPTH);
		p->too_deep = true;
	}
	p->panic = p->gave_up = true;
	/* What is nested this deep is not worth reading on. */
	p->pos = p->toks.n - 1;
	assert(p->depth <= PARSE_DEPTH);
	return false;
}

static bool begins_something(enum tok k)
{
	switch (k) {
	case T_BOOL:
	case T_INT_TYPE:
	case T_ENUM:
	case T_CONST:
	case T_LOCK:
	case T_SAFE:
	case T_REGULAR:
	case T_PROC:
	case T_VOID:
	case T_THREAD:
	case T_OBJECT:
	case T_IF:
	case T_WHILE:
	case T_REPEAT:
	case T_BREAK:
	case T_CONTINUE:
	case T_RETURN:
	case T_ACQUIRE:
	case T_RELEASE:
	case T_EITHER:
	case T_ASSUME:
	case T_ASSERT:
	case T_SKIP:
	case T_ATOMIC:
	case T_COMMIT:
	case T_STEP:
	case T_BEGIN:
		return true;
	default:
		return false;
	}
}

void tok_recover(struct parser *p)
{
	assert(p->pos < p->toks.n);
	uint32_t start = p->pos, open = 0;
	for (;;) {
		enum tok k = peek_kind(p);
		if (k == T_EOF)
			return;
		if (k == T_LBRACE)
			open++;
		if (k == T_RBRACE) {
			if (!open)
				return;
			if (!--open) {
				p->pos++;
				return;
			}
		}
		if (!open && k == T_SEMI) {
			p->pos++;
			return;
		}
		if (!open && p->pos > start && peek(p)->line_start && begins_something(k))
			return;
		p->pos++;
	}
}

struct expr *expr_new(struct parser *p, enum expr_kind kind, struct span span)
{
	assert(span.start <= span.end);
	struct expr *e = arena_new(p->arena, struct expr);
	e->kind = kind;
	e->span = span;
	return e;
}

static uint32_t height_of(const struct expr *e)
{
	return e ? e->height : 0;
}

struct expr *expr_grown(struct parser *p, struct expr *e)
{
	uint32_t h = height_of(e->a);
	if (height_of(e->b) > h)
		h = e->b->height;
	if (height_of(e->c) > h)
		h = e->c->height;
	for (const struct expr *arg = e->args; arg; arg = arg->next)
		if (arg->height > h)
			h = arg->height;
	e->height = h + 1;
	if (e->height > EXPR_HEIGHT) {
		if (!p->too_deep)
			diag_error(p->d, "too-deep", p->src, e->span, "the expression has more than %u levels", EXPR_HEIGHT);
		p->too_deep = true;
		return expr_new(p, E_ERROR, e->span);
	}
	return e;
}
