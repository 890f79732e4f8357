/*
 * fmt: printing the tokens and comments of a unit in the layout that
 * fmt_layout.c worked out.
 *
 * The text is made as a list of lines, each with at most one trailing
 * comment, so that such comments can be lined up at the end.
 */
#include "lang/fmt.h"

#include <string.h>

#include "base/invariant.h"
#include "base/utf8.h"
#include "lang/fmt_layout.h"

#define INDENT       2
#define CONTINUATION 4

struct fmt_line {
	size_t start, end;           /* in the text, without a line end */
	uint32_t com_start, com_end; /* in the source; equal: none */
};

struct fmt {
	const struct source *src;
	const struct token *toks;
	uint32_t ntoks;
	const struct comment *coms;
	uint32_t ncoms;
	const uint8_t *ends; /* a comment: no token follows it on its line */
	struct fmt_layout lay;
	struct arena *arena;
	struct buf text;
	AVEC(struct fmt_line) lines;
	bool open;           /* the last line may be added to */
	bool comment_only;   /* and there is nothing but comments on it */
	bool must_end;       /* nothing may follow on this line */
	bool blank_ok;       /* a blank line may come next */
	bool leading;        /* a comment has begun the token's line */
	unsigned level;      /* of the statement being printed */
	uint32_t parens;     /* open ones */
	uint32_t com_column; /* source column of the comment set apart last */
	bool after_cell;     /* and the last line is the one that has it */
};

/* ---- lines -------------------------------------------------------------- */

/* Columns of a text that starts at column 0; tabs stop every 8. */
static uint32_t columns(const char *s, size_t len)
{
	uint32_t col = 0, cp;
	for (size_t i = 0; i < len;) {
		unsigned n = utf8_decode(s + i, len - i, &cp);
		if (s[i] == '\t')
			col += 8 - col % 8;
		else
			col += n ? utf8_width(cp) : 1;
		i += n ? n : 1;
	}
	return col;
}

static uint32_t source_column(const struct fmt *f, uint32_t offset)
{
	assert(offset <= f->src->len);
	uint32_t start = offset;
	while (start > 0 && f->src->text[start - 1] != '\n')
		start--;
	if (start == 0 && offset >= 3 && !memcmp(f->src->text, "\xEF\xBB\xBF", 3))
		start = 3;
	return columns(f->src->text + start, offset - start);
}

static void end_line(struct fmt *f)
{
	assert(!f->open || f->lines.len);
	if (f->open)
		f->lines.data[f->lines.len - 1].end = f->text.len;
	f->open = false;
}

static void begin_line(struct fmt *f, unsigned column)
{
	end_line(f);
	struct fmt_line l = { f->text.len, f->text.len, 0, 0 };
	avec_push(f->arena, &f->lines, l);
	buf_repeat(&f->text, ' ', column);
	f->open = true;
	f->must_end = f->after_cell = false;
	f->comment_only = true;
	assert(f->open && f->lines.len);
}

static void blank_line(struct fmt *f, uint32_t newlines)
{
	if (newlines < 2 || !f->blank_ok)
		return;
	begin_line(f, 0);
	end_line(f);
}

static void space(struct fmt *f)
{
	if (f->text.len && f->text.data[f->text.len - 1] != ' ')
		buf_char(&f->text, ' ');
}

static uint32_t newlines(const struct fmt *f, uint32_t from, uint32_t to)
{
	assert(to <= f->src->len);
	uint32_t n = 0;
	for (uint32_t i = from; i < to; i++)
		n += f->src->text[i] == '\n';
	return n;
}

/* ---- comments ----------------------------------------------------------- */

/* The line of a comment that starts at `at`; *end without trailing space. */
static uint32_t comment_line(const struct fmt *f, uint32_t at, uint32_t limit, uint32_t *end)
{
	assert(at <= limit && limit <= f->src->len);
	const char *s = f->src->text;
	uint32_t i = at;
	while (i < limit && s[i] != '\n')
		i++;
	uint32_t e = i;
	while (e > at && (s[e - 1] == ' ' || s[e - 1] == '\t' || s[e - 1] == '\r'))
		e--;
	*end = e;
	return i < limit ? i + 1 : limit;
}

static uint32_t skip_blanks(const struct fmt *f, uint32_t at, uint32_t end)
{
	while (at < end && (f->src->text[at] == ' ' || f->src->text[at] == '\t'))
		at++;
	return at;
}

/* Does every line after the first begin with a star? */
static bool has_stars(const struct fmt *f, const struct comment *c)
{
	uint32_t end, at = comment_line(f, c->start, c->end, &end);
	while (at < c->end) {
		uint32_t next = comment_line(f, at, c->end, &end);
		at = skip_blanks(f, at, end);
		if (at >= end || f->src->text[at] != '*')
			return false;
		at = next;
	}
	return true;
}

/* The comment's text. When it begins its line, the lines below move with it
 * from its old column to the new one. */
static void put_comment(struct fmt *f, const struct comment *c, bool moves, unsigned column)
{
	assert(c->start < c->end && c->end <= f->src->len);
	const char *s = f->src->text;
	uint32_t end, at = comment_line(f, c->start, c->end, &end);
	buf_add(&f->text, s + c->start, end - c->start);
	if (at >= c->end)
		return;
	bool stars = moves && has_stars(f, c);
	uint32_t old = moves ? source_column(f, c->start) : 0;
	while (at < c->end) {
		uint32_t next = comment_line(f, at, c->end, &end);
		uint32_t text = moves ? skip_blanks(f, at, end) : at;
		uint32_t col = columns(s + at, text - at) + column;
		col = stars ? column + 1 : col > old ? col - old : 0;
		buf_char(&f->text, '\n');
		if (text < end)
			buf_repeat(&f->text, ' ', moves ? col : 0);
		buf_add(&f->text, s + text, end - text);
		at = next;
	}
}

static void inline_comment(struct fmt *f, const struct comment *c, uint32_t t)
{
	bool tight = t > 0 && !f->comment_only && (f->toks[t - 1].kind == T_LPAREN || f->toks[t - 1].kind == T_LBRACK);
	if (!tight)
		space(f);
	put_comment(f, c, false, 0);
}

/* Behind the line, set apart. */
static void trailing_comment(struct fmt *f, const struct comment *c, uint32_t t)
{
	if (f->comment_only || newlines(f, c->start, c->end)) {
		inline_comment(f, c, t);
		return;
	}
	struct fmt_line *l = &f->lines.data[f->lines.len - 1];
	uint32_t end;
	comment_line(f, c->start, c->end, &end);
	l->com_start = c->start;
	l->com_end = end;
	f->com_column = source_column(f, c->start);
	f->after_cell = c->line;
}

/* On a line of its own, in front of token t. */
static void own_line_comment(struct fmt *f, const struct comment *c, uint32_t t, uint32_t gap)
{
	uint8_t flags = f->lay.flags[t];
	bool line = flags & LAY_LINE;
	if (line && c->line && gap == 1 && f->after_cell && source_column(f, c->start) == f->com_column) {
		/* continues the comment after the line above */
		begin_line(f, 0);
		f->comment_only = false;
		trailing_comment(f, c, t);
		f->must_end = true;
		return;
	}
	unsigned level = f->lay.level[t] + (flags & LAY_CLOSE ? 1u : 0u);
	unsigned column = line || flags & (LAY_LEVEL | LAY_LIST) ? level * INDENT : f->level * INDENT + CONTINUATION;
	if (line || flags & LAY_LIST)
		blank_line(f, gap);
	begin_line(f, column);
	put_comment(f, c, true, column);
	f->must_end = true;
	f->blank_ok = true;
}

/* ---- tokens ------------------------------------------------------------- */

static bool ends_operand(enum tok k)
{
	return k == T_NAME || k == T_INT || k == T_TRUE || k == T_FALSE || k == T_RPAREN || k == T_RBRACK;
}

/* ++ and -- here precede their operand. */
static bool is_prefix(const struct fmt *f, uint32_t t)
{
	return t == 0 || f->lay.flags[t] & LAY_LINE || !ends_operand((enum tok)f->toks[t - 1].kind);
}

static bool is_unary(const struct fmt *f, uint32_t t)
{
	switch (f->toks[t].kind) {
	case T_BANG:
	case T_TILDE:
	case T_REF:
		return true;
	case T_MINUS:
	case T_PLUS:
	case T_INC:
	case T_DEC:
		return is_prefix(f, t);
	default:
		return false;
	}
}

static bool is_binary(const struct fmt *f, uint32_t t)
{
	enum tok k = (enum tok)f->toks[t].kind;
	return (k >= T_ASSIGN && k <= T_SHR_EQ && k != T_INC && k != T_DEC && !is_unary(f, t)) || k == T_QUESTION || k == T_COLON;
}

/* Two signs that would read as one mark when written together. */
static bool would_merge(enum tok a, enum tok b)
{
	return ((a == T_MINUS || a == T_DEC) && (b == T_MINUS || b == T_DEC)) ||
	       ((a == T_PLUS || a == T_INC) && (b == T_PLUS || b == T_INC));
}

/* Is there a space between t and the token before it, on the same line? */
static bool spaced(const struct fmt *f, uint32_t t)
{
	assert(t > 0 && t < f->ntoks);
	enum tok a = (enum tok)f->toks[t - 1].kind, b = (enum tok)f->toks[t].kind;
	switch (b) {
	case T_SEMI:
	case T_COMMA:
	case T_RPAREN:
	case T_RBRACK:
	case T_DOTDOT:
	case T_LBRACK:
	case T_LABEL_COLON:
		return false;
	case T_DOT:
		return a == T_LBRACE || a == T_COMMA; /* { .x = 1 } */
	case T_INC:
	case T_DEC:
		if (!is_prefix(f, t))
			return false;
		break;
	case T_LPAREN:
		switch (a) {
		case T_NAME:
		case T_ACQUIRE:
		case T_RELEASE:
		case T_ASSUME:
		case T_ASSERT:
		case T_CAS:
		case T_EXCHANGE:
		case T_FETCH_ADD:
		case T_ANY:
			return false;
		default:
			break;
		}
		break;
	default:
		break;
	}
	if (a == T_LPAREN || a == T_LBRACK || a == T_DOT || a == T_DOTDOT)
		return false;
	return !is_unary(f, t - 1) || would_merge(a, b);
}

/* May the author's line break before t stay? */
static bool may_break(const struct fmt *f, uint32_t t)
{
	assert(t > 0 && t < f->ntoks);
	if (f->lay.flags[t] & LAY_LIST && f->toks[t - 1].kind == T_COMMA)
		return true; /* { and . too begin an element */
	switch (f->toks[t].kind) {
	case T_SEMI:
	case T_COMMA:
	case T_RPAREN:
	case T_RBRACK:
	case T_LBRACE:
	case T_RBRACE:
	case T_LBRACK:
	case T_DOT:
	case T_DOTDOT:
	case T_LABEL_COLON:
		return false;
	default:
		break;
	}
	if (t == 0 || f->lay.flags[t] & LAY_LEVEL)
		return false;
	enum tok before = (enum tok)f->toks[t - 1].kind;
	return f->parens || f->lay.flags[t] & LAY_LIST || is_binary(f, t - 1) || before == T_COMMA || is_binary(f, t);
}

static unsigned break_column(const struct fmt *f, uint32_t t)
{
	return f->lay.flags[t] & (LAY_LEVEL | LAY_LIST) ? f->lay.level[t] * INDENT : f->level * INDENT + CONTINUATION;
}

/* The comments between token t - 1 and token t, from *c on. Returns the end
 * of the last thing printed. */
static uint32_t comments_before(struct fmt *f, uint32_t t, uint32_t *c, uint32_t end)
{
	bool line = f->lay.flags[t] & LAY_LINE;
	bool closing = f->lay.flags[t] & LAY_CLOSE;
	f->leading = false;
	for (; *c < f->ncoms && f->coms[*c].start < f->toks[t].start; ++*c) {
		const struct comment *com = &f->coms[*c];
		uint32_t gap = newlines(f, end, com->start);
		bool alone = gap > 0 || f->lines.len == 0, ends = f->ends[*c];
		bool last = *c + 1 == f->ncoms || f->coms[*c + 1].start > f->toks[t].start ||
		            newlines(f, com->end, f->coms[*c + 1].start);
		end = com->end;
		if (alone && (ends || (line && closing))) {
			own_line_comment(f, com, t, gap);
		} else if (line && !ends && !closing && !f->leading) {
			blank_line(f, gap);
			begin_line(f, f->lay.level[t] * INDENT);
			put_comment(f, com, true, f->lay.level[t] * INDENT);
			f->blank_ok = f->leading = true;
		} else if (last && (ends ? line || com->line : line && closing)) {
			trailing_comment(f, com, t);
		} else if (alone && (may_break(f, t) || f->must_end)) {
			begin_line(f, break_column(f, t));
			put_comment(f, com, true, break_column(f, t));
		} else {
			inline_comment(f, com, t);
		}
		if (com->line)
			f->must_end = true;
	}
	return end;
}

static void put_token(struct fmt *f, uint32_t t, uint32_t gap, bool commented)
{
	assert(t < f->ntoks);
	const struct token *k = &f->toks[t];
	uint8_t flags = f->lay.flags[t];
	if (flags & LAY_LINE && !f->leading) {
		if (!(flags & LAY_CLOSE))
			blank_line(f, gap);
		begin_line(f, f->lay.level[t] * INDENT);
	} else if (f->must_end || (gap && may_break(f, t))) {
		if (flags & LAY_LIST)
			blank_line(f, gap);
		begin_line(f, break_column(f, t));
	} else if (commented) {
		if (k->kind != T_SEMI && k->kind != T_COMMA && k->kind != T_RPAREN && k->kind != T_RBRACK)
			space(f);
	} else if (t > 0 && spaced(f, t)) {
		space(f);
	}
	buf_add(&f->text, f->src->text + k->start, k->end - k->start);
	f->comment_only = false;
	f->blank_ok = !(flags & LAY_OPEN) && k->kind != T_LABEL_COLON;
	if (k->kind == T_LPAREN || k->kind == T_LBRACK)
		f->parens++;
	else if ((k->kind == T_RPAREN || k->kind == T_RBRACK) && f->parens)
		f->parens--;
}

static void put_all(struct fmt *f)
{
	uint32_t c = 0, end = 0;
	for (uint32_t t = 0; t < f->ntoks; t++) {
		uint32_t first = c;
		if (f->lay.flags[t] & LAY_LINE)
			f->parens = 0;
		unsigned level = f->lay.flags[t] & LAY_LINE ? f->lay.level[t] : f->level;
		end = comments_before(f, t, &c, end);
		f->level = level;
		if (f->toks[t].kind == T_EOF)
			break;
		put_token(f, t, newlines(f, end, f->toks[t].start), c > first);
		end = f->toks[t].end;
	}
	end_line(f);
}

/* ---- the whole ---------------------------------------------------------- */

/* From the last comment to the first: does a token follow on its line? */
static const uint8_t *find_ends(const struct fmt *f)
{
	uint8_t *ends = arena_array(f->arena, uint8_t, f->ncoms + 1u);
	uint32_t t = f->ntoks - 1;
	for (uint32_t i = f->ncoms; i-- > 0;) {
		const struct comment *c = &f->coms[i];
		while (t > 0 && f->toks[t - 1].start > c->start)
			t--;
		bool next_is_comment = i + 1 < f->ncoms && f->coms[i + 1].start < f->toks[t].start;
		uint32_t next = next_is_comment ? f->coms[i + 1].start : f->toks[t].start;
		ends[i] = c->line || newlines(f, c->end, next) || (next_is_comment ? ends[i + 1] : f->toks[t].kind == T_EOF);
	}
	return ends;
}

/* The width of what precedes a line's comment. */
static uint32_t code_width(const struct fmt *f, const struct fmt_line *l)
{
	assert(l->start <= l->end && l->end <= f->text.len);
	const char *s = f->text.data + l->start;
	size_t len = l->end - l->start;
	const char *nl = len ? memrchr(s, '\n', len) : NULL;
	if (nl) {
		len -= (size_t)(nl + 1 - s);
		s = nl + 1;
	}
	return columns(s, len);
}

static void print_lines(const struct fmt *f, struct buf *out)
{
	const struct fmt_line *l = f->lines.data;
	for (uint32_t i = 0; i < f->lines.len;) {
		uint32_t n = i, column = 0;
		for (; n < f->lines.len && l[n].com_end > l[n].com_start; n++) {
			uint32_t width = code_width(f, &l[n]);
			if (width + 2 > column)
				column = width + 2;
		}
		if (n == i)
			n++; /* a line without a trailing comment */
		for (; i < n; i++) {
			buf_add(out, f->text.data + l[i].start, l[i].end - l[i].start);
			if (l[i].com_end > l[i].com_start) {
				buf_repeat(out, ' ', column - code_width(f, &l[i]));
				buf_add(out, f->src->text + l[i].com_start, l[i].com_end - l[i].com_start);
			}
			buf_char(out, '\n');
		}
	}
}

void fmt_unit(const struct unit *u, const struct tokens *toks, struct arena *a, struct buf *out)
{
	struct fmt f = {
		.src = u->src, .toks = toks->list, .ntoks = toks->n, .coms = toks->comments, .ncoms = toks->ncomments, .arena = a
	};
	f.lay = layout_unit(u, toks, a);
	f.ends = find_ends(&f);
	buf_init(&f.text);
	put_all(&f);
	print_lines(&f, out);
	if (f.text.failed)
		out->failed = true;
	buf_free(&f.text);
}
