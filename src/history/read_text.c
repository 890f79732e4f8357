/*
 * read_text: one line of a CSV table or of a Jepsen log.
 *
 *   csv  := cell (sep cell)*      cell may be "quoted"
 *   log  := ... PROCESS :invoke|:ok|:fail|:info :f value
 *   violin := "[" PROCESS "]" ("call" name [ "(" value ")" ] | "return" [ value | "empty" ])
 */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "history/read.h"

struct text_cell {
	const char *s;
	size_t len;
};

static struct text_cell trim(const char *s, const char *e)
{
	assert(s <= e);
	while (s < e && (*s == ' ' || *s == '\t' || *s == '\r'))
		s++;
	while (e > s && (e[-1] == ' ' || e[-1] == '\t' || e[-1] == '\r'))
		e--;
	return (struct text_cell){ s, (size_t)(e - s) };
}

/* The inside of a quoted cell, where a quote is written twice. */
static struct text_cell unquote(struct arena *a, struct text_cell c)
{
	assert(c.len >= 2 && *c.s == '"');
	c.s++;
	c.len -= 2;
	if (!memchr(c.s, '"', c.len))
		return c;
	char *t = arena_strndup(a, c.s, c.len);
	size_t n = 0;
	for (size_t i = 0; i < c.len; i++) {
		t[n++] = c.s[i];
		i += c.s[i] == '"' && i + 1 < c.len && c.s[i + 1] == '"';
	}
	assert(n <= c.len);
	return (struct text_cell){ t, n };
}

/* Cells of a line; quotes are cut off, brackets keep their separators. */
static uint32_t split(struct arena *a, const char *s, const char *e, char sep, struct text_cell *out)
{
	assert(s <= e);
	uint32_t n = 0;
	const char *p = s;
	if (!sep)
		while (p < e && form_is_space(*p))
			p++;
	while (p < e || (sep && n && p == e && e[-1] == sep && n < CSV_MAX_COLUMNS)) {
		const char *q = p;
		int depth = 0;
		bool quoted = q < e && *q == '"';
		if (quoted) {
			for (q++; q < e && (*q != '"' || (q + 1 < e && q[1] == '"')); q++)
				q += *q == '"';
			q += q < e;
		}
		while (q < e && (depth || (sep ? *q != sep : !form_is_space(*q)))) {
			depth += *q == '[';
			depth -= *q == ']' && depth;
			q++;
		}
		struct text_cell c = trim(p, q);
		if (quoted && c.len >= 2 && c.s[c.len - 1] == '"')
			c = unquote(a, c);
		if (n < CSV_MAX_COLUMNS)
			out[n] = c;
		n++;
		if (q >= e)
			break;
		p = q + 1;
		if (!sep)
			while (p < e && form_is_space(*p))
				p++;
	}
	return n < CSV_MAX_COLUMNS ? n : CSV_MAX_COLUMNS;
}

static uint8_t column_by_name(struct text_cell c)
{
	static const struct {
		const char *name;
		uint8_t col;
	} t[] = {
		{ "client", COL_CLIENT },   { "clientid", COL_CLIENT }, { "process", COL_CLIENT },
		{ "thread", COL_CLIENT },   { "op", COL_OP },           { "f", COL_OP },
		{ "operation", COL_OP },    { "value", COL_VALUE },     { "arg", COL_VALUE },
		{ "input", COL_VALUE },     { "call", COL_CALL },       { "start", COL_CALL },
		{ "invoke", COL_CALL },     { "return", COL_RETURN },   { "end", COL_RETURN },
		{ "response", COL_RETURN }, { "key", COL_KEY },         { "result", COL_RESULT },
		{ "output", COL_RESULT },   { "status", COL_STATUS },
	};
	char low[16];
	if (c.len >= sizeof low)
		return COL_SKIP;
	for (size_t i = 0; i < c.len; i++)
		low[i] = (char)(c.s[i] >= 'A' && c.s[i] <= 'Z' ? c.s[i] + 32 : c.s[i]);
	low[c.len] = 0;
	for (size_t i = 0; i < sizeof t / sizeof *t; i++)
		if (!strcmp(t[i].name, low))
			return t[i].col;
	return COL_SKIP;
}

static enum form_status header(struct reader *r, const struct text_cell *cells, uint32_t n)
{
	assert(n <= CSV_MAX_COLUMNS);
	uint32_t seen = 0;
	for (uint32_t i = 0; i < n; i++) {
		r->columns[i] = column_by_name(cells[i]);
		seen |= 1u << r->columns[i];
	}
	r->ncolumns = n;
	if (seen & 1u << COL_OP && seen & 1u << COL_CALL && seen & 1u << COL_RETURN)
		return FORM_OK;
	reader_error(r, cells[0].s, cells[0].len, "bad-header", "the header has no %s column",
	             !(seen & 1u << COL_OP)     ? "op"
	             : !(seen & 1u << COL_CALL) ? "call"
	                                        : "return");
	diag_hint(r->d, "columns: client op value call return, and also key, result, status");
	return FORM_BAD;
}

/* The first line with cells tells the separator and the columns. */
static enum form_status first_line(struct reader *r, const char *s, const char *e, bool *is_header)
{
	static const uint8_t five[] = { COL_CLIENT, COL_OP, COL_VALUE, COL_CALL, COL_RETURN };
	static const uint8_t four[] = { COL_OP, COL_VALUE, COL_CALL, COL_RETURN };
	struct text_cell cells[CSV_MAX_COLUMNS];
	size_t len = (size_t)(e - s);
	r->sep = memchr(s, ',', len) ? ',' : memchr(s, ';', len) ? ';' : memchr(s, '\t', len) ? '\t' : 0;
	uint32_t n = split(r->h->arena, s, e, r->sep, cells);
	assert(n <= CSV_MAX_COLUMNS);
	*is_header = false;
	if (n && column_by_name(cells[0]) != COL_SKIP && history_fn(r->h, cells[0].s, cells[0].len) == FN_NONE) {
		*is_header = true;
		return header(r, cells, n);
	}
	if (n == 5 && history_fn(r->h, cells[1].s, cells[1].len) != FN_NONE) {
		memcpy(r->columns, five, sizeof five);
	} else if (n == 4 && history_fn(r->h, cells[0].s, cells[0].len) != FN_NONE) {
		memcpy(r->columns, four, sizeof four);
	} else {
		reader_error(r, s, len, "unknown-format", "unknown history format");
		diag_hint(r->d, "formats: edn, json, csv (client,op,value,call,return), log, violin; "
		                "--format=NAME selects one");
		return FORM_BAD;
	}
	r->ncolumns = n;
	return FORM_OK;
}

static bool cell_is(struct text_cell c, const char *w)
{
	return strlen(w) == c.len && !memcmp(c.s, w, c.len);
}

static bool parse_time(struct text_cell c, int64_t *t)
{
	bool neg = c.len && c.s[0] == '-';
	uint64_t x = 0;
	size_t i = neg;
	for (; i < c.len && c.s[i] >= '0' && c.s[i] <= '9'; i++) {
		if (x > (INT64_MAX - 9) / 10)
			return false;
		x = x * 10 + (uint64_t)(c.s[i] - '0');
	}
	*t = neg ? -(int64_t)x : (int64_t)x;
	return i == c.len && i > neg;
}

/* A cell as a value: whatever reads as EDN, else the text itself. */
static val cell_value(struct reader *r, struct text_cell c)
{
	int64_t n;
	if (!c.len || cell_is(c, "-"))
		return VAL_NONE;
	if (parse_time(c, &n))
		return val_int(&r->h->vals, n);
	char small[256], *text = c.len < sizeof small ? small : malloc(c.len + 1);
	if (text && strchr("[({\"#:nft-+0123456789", c.s[0])) {
		memcpy(text, c.s, c.len);
		text[c.len] = 0;
		struct form f = { .p = text, .end = text + c.len, .last = true, .vals = &r->h->vals };
		val v;
		bool is = form_value(&f, &v, 1) == FORM_OK && f.p == f.end && (val_kind(f.vals, v) != VK_WORD || c.s[0] == ':');
		if (text != small)
			free(text);
		if (is)
			return v;
	} else if (text != small) {
		free(text);
	}
	const char *colon = memchr(c.s, ':', c.len); /* 1:2 for cas */
	int64_t a, b;
	if (colon && parse_time((struct text_cell){ c.s, (size_t)(colon - c.s) }, &a) &&
	    parse_time((struct text_cell){ colon + 1, c.len - (size_t)(colon - c.s) - 1 }, &b)) {
		val pair[2] = { val_int(&r->h->vals, a), val_int(&r->h->vals, b) };
		return val_list(&r->h->vals, VK_LIST, pair, 2);
	}
	return val_text(&r->h->vals, VK_STR, c.s, c.len);
}

static enum form_status csv_time(struct reader *r, struct text_cell c, int64_t *t, const char *what)
{
	assert(*what == 'c' || *what == 'r');
	if (parse_time(c, t))
		return FORM_OK;
	reader_error(r, c.s, c.len, "bad-time", "expected the %s time, a whole number", what);
	diag_hint(r->d, *what == 'c' ? "times are whole numbers in any unit, such as nanoseconds"
	                             : "an operation that never returned has an empty return time, or -");
	return FORM_BAD;
}

enum form_status rec_csv(struct reader *r, const char *s, const char *e, struct read_rec *rec)
{
	assert(s <= e);
	struct text_cell cells[CSV_MAX_COLUMNS], c = trim(s, e);
	if (!c.len)
		return FORM_OK;
	if (*c.s == '#') { /* a comment, or "# queue" naming the object */
		struct text_cell o = trim(c.s + 1, c.s + c.len);
		enum object obj = object_by_name(o.s, o.len);
		if (obj != OBJ_GUESS && !r->ncolumns)
			r->h->declared = obj;
		return FORM_OK;
	}
	if (!r->ncolumns) {
		bool is_header;
		enum form_status st = first_line(r, s, e, &is_header);
		if (st != FORM_OK || is_header)
			return st;
	}
	uint32_t n = split(r->h->arena, s, e, r->sep, cells);
	if (n != r->ncolumns) {
		reader_error(r, c.s, c.len, "bad-row", "expected %u columns, found %u", r->ncolumns, n);
		diag_hint(r->d, "keep empty cells: 2,cas,[3 4],50, (it never returned)");
		return FORM_BAD;
	}
	val value = VAL_NONE, result = VAL_NONE;
	bool unknown_status = false;
	enum form_status st = FORM_OK;
	for (uint32_t i = 0; i < n && st == FORM_OK; i++) {
		c = cells[i];
		switch (r->columns[i]) {
		case COL_CLIENT:
			rec->proc = cell_value(r, c);
			rec->has_proc = rec->proc != VAL_NONE;
			break;
		case COL_OP:
			rec->fname = c.s;
			rec->fname_len = c.len;
			rec->fn = history_fn(r->h, c.s, c.len);
			break;
		case COL_VALUE:
			value = cell_value(r, c);
			break;
		case COL_RESULT:
			result = cell_value(r, c);
			break;
		case COL_KEY:
			rec->key = cell_value(r, c);
			rec->has_key = rec->key != VAL_NONE;
			break;
		case COL_CALL:
			st = csv_time(r, c, &rec->call, "call");
			break;
		case COL_RETURN:
			rec->has_ret = c.len && !cell_is(c, "-") && !cell_is(c, "nil") && !cell_is(c, "inf") && !cell_is(c, "null");
			if (rec->has_ret)
				st = csv_time(r, c, &rec->ret, "return");
			break;
		case COL_STATUS:
			rec->failed = cell_is(c, "fail");
			unknown_status = cell_is(c, "info") || cell_is(c, "unknown");
			break;
		}
	}
	rec->has_ret &= !unknown_status;
	rec->kind = REC_OP;
	rec->has_call = true;
	rec->start = s;
	rec->len = (size_t)(e - s);
	rec->in = value;
	rec->out = result;
	if (shape_sees(history_shape(r->h, rec->fn)) && result == VAL_NONE && rec->has_ret) {
		rec->out = value == VAL_NONE ? VAL_NIL : value;
		/* -1 is how some tools write "empty" */
		if (r->h->declared != OBJ_GUESS && value != VAL_NONE && val_is_small(value) && val_small(value) == -1)
			rec->out = VAL_NIL;
		rec->in = VAL_NONE;
	}
	return st;
}

/* ---- logs ---------------------------------------------------------------- */

static const char *find_type(const char *s, const char *e, enum read_kind *kind, size_t *len)
{
	assert(s <= e);
	static const struct {
		const char *word;
		enum read_kind kind;
	} t[] = { { ":invoke", REC_INVOKE }, { ":ok", REC_OK }, { ":fail", REC_FAIL }, { ":info", REC_INFO } };
	for (const char *p = s; (p = memchr(p, ':', (size_t)(e - p))); p++) {
		if (p == s || (p[-1] != ' ' && p[-1] != '\t'))
			continue;
		for (size_t i = 0; i < 4; i++) {
			*len = strlen(t[i].word);
			if ((size_t)(e - p) > *len && !memcmp(p, t[i].word, *len) && (p[*len] == ' ' || p[*len] == '\t')) {
				*kind = t[i].kind;
				return p;
			}
		}
	}
	return NULL;
}

enum form_status rec_log(struct reader *r, const char *s, const char *e, struct read_rec *rec)
{
	size_t len;
	enum read_kind kind;
	const char *type = find_type(s, e, &kind, &len);
	rec->kind = REC_SKIP;
	if (!type) {
		r->h->nskipped += trim(s, e).len > 0;
		return FORM_OK;
	}
	struct text_cell before = trim(s, type);
	const char *p = before.s + before.len;
	while (p > before.s && !form_is_space(p[-1]))
		p--;
	struct text_cell proc = { p, (size_t)(before.s + before.len - p) };
	int64_t id;
	rec->start = s;
	rec->len = (size_t)(e - s);
	if (!proc.len || !parse_time(proc, &id)) {
		r->h->nskipped++; /* the nemesis, or prose that mentions :ok */
		return FORM_OK;
	}
	rec->proc = val_int(&r->h->vals, id);
	rec->has_proc = true;
	struct form f = { .p = type + len, .end = e, .last = true, .vals = &r->h->vals };
	form_space(&f);
	enum form_status st = form_name(&f, &rec->fname, &rec->fname_len);
	if (st == FORM_OK) {
		rec->fn = history_fn(r->h, rec->fname, rec->fname_len);
		form_space(&f);
		if (f.p < e)
			st = form_value(&f, &rec->in, 1);
	}
	if (st != FORM_OK) {
		const char *at = f.at && f.at < e ? f.at : type;
		reader_error(r, at, 1, "bad-record", "%s", f.why ? f.why : "the line is truncated");
		diag_hint(r->d, "a line ends in the operation and its value: 0  :invoke  :cas  [1 2]");
		return FORM_BAD;
	}
	rec->kind = kind;
	return FORM_OK;
}

/* ---- violin -------------------------------------------------------------- */

/* "# @object atomic-queue" names the object; other comments say nothing. */
static void object_line(struct reader *r, struct text_cell c)
{
	assert(c.len && *c.s == '#');
	static const char mark[] = "@object", atomic[] = "atomic-";
	c = trim(c.s + 1, c.s + c.len);
	if (c.len <= sizeof mark || memcmp(c.s, mark, sizeof mark - 1))
		return;
	c = trim(c.s + sizeof mark - 1, c.s + c.len);
	if (c.len >= sizeof atomic && !memcmp(c.s, atomic, sizeof atomic - 1))
		c = trim(c.s + sizeof atomic - 1, c.s + c.len);
	enum object o = object_by_name(c.s, c.len);
	if (o != OBJ_GUESS)
		r->h->declared = o;
}

static val violin_value(struct reader *r, struct text_cell c)
{
	return cell_is(c, "empty") || cell_is(c, "EMPTY") ? VAL_NIL : cell_value(r, c);
}

static enum form_status violin_call(struct reader *r, struct text_cell c, struct read_rec *rec)
{
	const char *open = memchr(c.s, '(', c.len), *e = c.s + c.len;
	if (open && e[-1] != ')') {
		reader_error(r, open, 1, "bad-record", "the argument is not closed");
		diag_hint(r->d, "a call looks like [1] call add(3)");
		return FORM_BAD;
	}
	struct text_cell name = trim(c.s, open ? open : e);
	rec->kind = REC_INVOKE;
	rec->fname = name.s;
	rec->fname_len = name.len;
	rec->fn = history_fn(r->h, name.s, name.len);
	if (open)
		rec->in = violin_value(r, trim(open + 1, e - 1));
	bool ok = map_put(&r->called, rec->proc, rec->fn) &&
	          map_put(&r->passed, rec->proc, rec->in < MAP_NONE - 1 ? rec->in + 1 : 0);
	if (shape_sees(history_shape(r->h, rec->fn)) || rec->fn == FN_REMOVE)
		rec->in = open && !object_has(r->h->declared, OBJECT_ELEMENTS) ? VAL_NONE
		                                                               : rec->in; /* what comes out, told early */
	return ok ? FORM_OK : FORM_BAD;
}

static enum form_status violin_return(struct reader *r, struct text_cell c, struct read_rec *rec)
{
	uint32_t fn = map_get(&r->called, rec->proc), passed = map_get(&r->passed, rec->proc);
	rec->kind = REC_OK;
	rec->fn = fn == MAP_NONE ? FN_READ : fn; /* without a call: told by who matches them */
	rec->in = violin_value(r, c);
	if (rec->in == VAL_NONE && passed != MAP_NONE && passed)
		rec->in = passed - 1;
	return FORM_OK;
}

enum form_status rec_violin(struct reader *r, const char *s, const char *e, struct read_rec *rec)
{
	struct text_cell c = trim(s, e);
	rec->kind = REC_SKIP;
	if (!c.len)
		return FORM_OK;
	if (*c.s == '#') {
		object_line(r, c);
		return FORM_OK;
	}
	const char *close = *c.s == '[' ? memchr(c.s, ']', c.len) : NULL;
	struct text_cell proc = close ? trim(c.s + 1, close) : c, what = close ? trim(close + 1, c.s + c.len) : c;
	bool call = what.len > 5 && !memcmp(what.s, "call ", 5);
	bool back = what.len >= 6 && !memcmp(what.s, "return", 6) && (what.len == 6 || what.s[6] == ' ');
	if (!close || !proc.len || (!call && !back)) {
		reader_error(r, c.s, c.len, "bad-record", "expected a call or a return");
		diag_hint(r->d, "a line looks like [1] call add(3), or [1] return, or [2] return 3, or [2] return empty");
		return FORM_BAD;
	}
	rec->start = s;
	rec->len = (size_t)(e - s);
	rec->proc = cell_value(r, proc);
	rec->has_proc = true;
	what = trim(what.s + (call ? 5 : 6), what.s + what.len);
	return call ? violin_call(r, what, rec) : violin_return(r, what, rec);
}
