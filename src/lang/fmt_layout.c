#include "lang/fmt_layout.h"

struct fmt_walk {
	const struct source *src;
	const struct tokens *toks;
	struct fmt_layout lay;
	bool sml;
};

/* The token at a byte offset (the last that begins there or before). */
static uint32_t token_at(const struct fmt_walk *w, uint32_t offset)
{
	uint32_t lo = 0, hi = w->toks->n;
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (w->toks->list[mid].start <= offset)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

static void mark(struct fmt_walk *w, uint32_t tok, unsigned flags, unsigned level)
{
	w->lay.flags[tok] |= (uint8_t)flags;
	w->lay.level[tok] = (uint16_t)level;
}

static uint32_t line_at(struct fmt_walk *w, uint32_t offset, unsigned level)
{
	uint32_t t = token_at(w, offset);
	mark(w, t, LAY_LINE, level);
	return t;
}

static bool newline_between(const struct fmt_walk *w, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		if (w->src->text[i] == '\n')
			return true;
	return false;
}

/* "{" ... "}" of an enum or an initialiser. It goes over several lines when
 * its author broke the line after the brace. */
static void list_layout(struct fmt_walk *w, uint32_t first, unsigned level)
{
	const struct token *t = w->toks->list;
	uint32_t close = first;
	unsigned open = 0;
	while (t[close].kind != T_EOF && (open || t[close].kind != T_RBRACE)) {
		if (t[close].kind == T_LBRACE)
			open++;
		else if (t[close].kind == T_RBRACE)
			open--;
		close++;
	}
	if (!newline_between(w, t[first - 1].end, t[first].start))
		return;
	mark(w, first - 1, LAY_OPEN, level);
	mark(w, first, LAY_LINE, level + 1);
	for (uint32_t i = first + 1; i < close; i++)
		mark(w, i, LAY_LIST, level + 1);
	mark(w, close, LAY_LINE | LAY_CLOSE, level);
}

static void object_layout(struct fmt_walk *w, const struct decl *d, unsigned level);

static void type_layout(struct fmt_walk *w, const struct type_ref *ty, unsigned level)
{
	if (ty && ty->enum_def && ty->enum_def->members)
		list_layout(w, token_at(w, ty->enum_def->members->span.start), level);
	if (ty && ty->of)
		type_layout(w, ty->of, level);
	if (ty && ty->struct_def)
		object_layout(w, ty->struct_def, level);
}

static void stmt_layout(struct fmt_walk *w, const struct stmt *s, unsigned level);

static void stmt_line(struct fmt_walk *w, const struct stmt *s, unsigned level)
{
	line_at(w, s->head.start, level);
	stmt_layout(w, s, level);
}

/* A block without statements stays `{ }` unless a comment needs lines. */
static bool empty_needs_lines(const struct fmt_walk *w, uint32_t open, uint32_t close)
{
	const struct comment *c = w->toks->comments;
	uint32_t from = w->toks->list[open].end, to = w->toks->list[close].start;
	uint32_t lo = 0, hi = w->toks->ncomments;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (c[mid].start < from)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < w->toks->ncomments && c[lo].start < to && newline_between(w, from, to);
}

static void block_layout(struct fmt_walk *w, const struct stmt *b, unsigned level)
{
	uint32_t open = token_at(w, b->head.start), close = token_at(w, b->close);
	mark(w, open, LAY_OPEN | LAY_LEVEL, level);
	for (const struct stmt *s = b->body; s; s = s->next)
		stmt_line(w, s, level + 1);
	if (b->body || empty_needs_lines(w, open, close))
		mark(w, close, LAY_LINE | LAY_CLOSE, level);
}

static void body_layout(struct fmt_walk *w, const struct stmt *b, unsigned level)
{
	if (b->kind == S_BLOCK)
		block_layout(w, b, level);
	else
		stmt_line(w, b, level + 1);
}

static void if_layout(struct fmt_walk *w, const struct stmt *s, unsigned level)
{
	body_layout(w, s->body, level);
	if (!s->other)
		return;
	uint32_t word = token_at(w, s->other->head.start) - 1;
	mark(w, word, s->body->kind == S_BLOCK ? LAY_LEVEL : LAY_LINE, level);
	if (s->other->kind == S_IF) {
		mark(w, word + 1, LAY_LEVEL, level);
		stmt_layout(w, s->other, level);
	} else {
		body_layout(w, s->other, level);
	}
}

static void do_layout(struct fmt_walk *w, const struct stmt *s, unsigned level)
{
	body_layout(w, s->body, level);
	mark(w, token_at(w, s->tail.start), s->body->kind == S_BLOCK ? LAY_LEVEL : LAY_LINE, level);
}

/* Labels as far left as `switch`; a block right behind its label opens on that line. */
static void switch_layout(struct fmt_walk *w, const struct stmt *s, unsigned level)
{
	mark(w, token_at(w, s->tail.start), LAY_OPEN | LAY_LEVEL, level);
	for (const struct stmt *c = s->body; c; c = c->next) {
		for (const struct expr *e = c->labels; e; e = e->next)
			mark(w, token_at(w, e->span.start) - 1, LAY_LINE, level); /* the word `case` */
		if (c->is_default)
			line_at(w, c->name_span.start, level);
		for (const struct stmt *i = c->body; i; i = i->next) {
			if (i == c->body && i->kind == S_BLOCK)
				block_layout(w, i, level);
			else
				stmt_line(w, i, level + 1);
		}
	}
	mark(w, token_at(w, s->close), LAY_LINE | LAY_CLOSE, level);
}

static void decl_layout(struct fmt_walk *w, const struct decl *d, unsigned level);

static void stmt_layout(struct fmt_walk *w, const struct stmt *s, unsigned level)
{
	switch (s->kind) {
	case S_BLOCK:
		block_layout(w, s, level);
		break;
	case S_IF:
		if_layout(w, s, level);
		break;
	case S_WHILE:
	case S_REPEAT:
	case S_FOR:
	case S_ATOMIC:
	case S_STEP:
		body_layout(w, s->body, level);
		break;
	case S_DO:
		do_layout(w, s, level);
		break;
	case S_SWITCH:
		switch_layout(w, s, level);
		break;
	case S_EITHER:
		for (const struct stmt *b = s->body; b; b = b->next) {
			block_layout(w, b, level);
			if (b != s->body)
				mark(w, token_at(w, b->head.start) - 1, LAY_LEVEL, level);
		}
		break;
	case S_DECL:
		for (const struct decl *d = s->decls; d; d = d->next)
			decl_layout(w, d, level);
		break;
	default:
		break;
	}
}

static uint32_t decl_start(const struct decl *d)
{
	if (d->kind != D_VAR)
		return d->span.start;
	return d->class_span.end ? d->class_span.start : d->type->span.start;
}

static void object_layout(struct fmt_walk *w, const struct decl *d, unsigned level)
{
	uint32_t close = token_at(w, d->span.end - 1), open = close - 1;
	for (const struct decl *m = d->fields; m; m = m->next)
		decl_layout(w, m, level + 1);
	for (const struct decl *m = d->methods; m; m = m->next)
		decl_layout(w, m, level + 1);
	if (d->fields || d->methods) {
		uint32_t first = d->fields ? decl_start(d->fields) : decl_start(d->methods);
		if (d->methods && decl_start(d->methods) < first)
			first = decl_start(d->methods);
		open = token_at(w, first) - 1;
	}
	mark(w, open, LAY_OPEN | LAY_LEVEL, level);
	if (d->fields || d->methods || empty_needs_lines(w, open, close))
		mark(w, close, LAY_LINE | LAY_CLOSE, level);
}

static void decl_layout(struct fmt_walk *w, const struct decl *d, unsigned level)
{
	if (d->kind != D_VAR || d->first_of_group)
		line_at(w, decl_start(d), level);
	switch (d->kind) {
	case D_VAR:
		if (d->first_of_group)
			type_layout(w, d->type, level);
		if (d->init_list && d->init)
			list_layout(w, token_at(w, d->init->designator_span.start), level);
		break;
	case D_STRUCT:
		object_layout(w, d, level);
		break;
	case D_ENUM:
		if (d->is_pool)
			object_layout(w, d, level);
		else if (d->members)
			list_layout(w, token_at(w, d->members->span.start), level);
		break;
	case D_PROC:
		type_layout(w, d->result, level);
		for (const struct decl *p = d->params; p; p = p->next)
			type_layout(w, p->type, level);
		block_layout(w, d->body, level);
		break;
	case D_THREAD:
		block_layout(w, d->body, level);
		break;
	case D_OBJECT:
		type_layout(w, d->spec_type, level);
		object_layout(w, d, level);
		break;
	case D_CONST:
	case D_ENUMERATOR:
	case D_PROPERTY:
		break;
	}
}

/* A thread of SML has no braces, and its declarations have no text. */
static void sml_thread_layout(struct fmt_walk *w, const struct decl *d)
{
	for (const struct stmt *s = d->body->body; s; s = s->next)
		if (s->kind != S_DECL)
			stmt_line(w, s, 0);
}

struct fmt_layout layout_unit(const struct unit *u, const struct tokens *toks, struct arena *a)
{
	struct fmt_walk w = { .src = u->src, .toks = toks, .sml = u->sml };
	w.lay.flags = arena_array(a, uint8_t, toks->n);
	w.lay.level = arena_array(a, uint16_t, toks->n);
	for (const struct decl *d = u->decls; d; d = d->next) {
		if (u->sml && d->kind == D_THREAD)
			sml_thread_layout(&w, d);
		else
			decl_layout(&w, d, 0);
	}
	for (uint32_t i = 0; u->sml && i < toks->n; i++) {
		if (toks->list[i].kind != T_OROR)
			continue;
		mark(&w, i, LAY_LINE, 0);
		mark(&w, i + 1, LAY_LINE, 0);
	}
	mark(&w, toks->n - 1, LAY_LINE, 0);
	return w.lay;
}
