#include "project/toml.h"

#include <string.h>

#include "base/invariant.h"
#include "base/utf8.h"

struct toml_parser {
	struct toml *t;
	const struct source *src;
	struct diags *d;
	struct arena *a;
	uint32_t at;
	const char *table;
	struct span table_at;
};

static struct span from(const struct toml_parser *p, uint32_t start)
{
	assert(start <= p->at && p->at <= p->src->len);
	return (struct span){ start, p->at > start ? p->at : start + 1 };
}

static char peek(const struct toml_parser *p)
{
	return p->at < p->src->len ? p->src->text[p->at] : 0;
}

static bool at_end(const struct toml_parser *p)
{
	return p->at >= p->src->len;
}

static bool line_end(const struct toml_parser *p)
{
	return at_end(p) || peek(p) == '\n' || (peek(p) == '\r' && p->at + 1 < p->src->len && p->src->text[p->at + 1] == '\n');
}

static void blanks(struct toml_parser *p)
{
	while (peek(p) == ' ' || peek(p) == '\t')
		p->at++;
}

static void to_line_end(struct toml_parser *p)
{
	assert(p->at <= p->src->len);
	while (!line_end(p))
		p->at++;
}

static bool control(char c)
{
	return ((unsigned char)c < 0x20 && c != '\t') || c == 0x7f;
}

/* Blanks and a comment. */
static void rest(struct toml_parser *p)
{
	blanks(p);
	if (peek(p) != '#' || at_end(p))
		return;
	for (; !line_end(p); p->at++)
		if (control(peek(p))) {
			diag_error(p->d, "project-syntax", p->src, (struct span){ p->at, p->at + 1 },
			           "control character in a comment");
			to_line_end(p);
			return;
		}
}

/* Blanks, comments and line ends, between the items of an array. */
static void space(struct toml_parser *p)
{
	for (rest(p); !at_end(p) && line_end(p); rest(p))
		p->at += peek(p) == '\r' ? 2 : 1;
}

static bool bare(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/* ---- strings ------------------------------------------------------------------ */

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* escape = "\" ( b | t | n | f | r | " | \ | uXXXX | UXXXXXXXX ), at the letter. */
static bool escape(struct toml_parser *p, struct buf *out)
{
	static const char letters[] = "btnfr\"\\", values[] = "\b\t\n\f\r\"\\";
	uint32_t start = p->at - 1, c = 0;
	char letter = peek(p);
	const char *known = letter ? strchr(letters, letter) : NULL;
	if (known) {
		buf_char(out, values[known - letters]);
		p->at++;
		return true;
	}
	int digits = letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
	if (digits) {
		p->at++;
		int i = 0;
		for (; i < digits && hex(peek(p)) >= 0; i++, p->at++)
			c = c << 4 | (uint32_t)hex(peek(p));
		if (i == digits && c && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff)) {
			char bytes[4];
			buf_add(out, bytes, utf8_encode(c, bytes));
			return true;
		}
	}
	diag_error(p->d, "project-syntax", p->src, from(p, start), "invalid escape sequence in a string");
	diag_hint(p->d, "'...' is a string without escapes");
	return false;
}

/* string = '"' { character | escape } '"' | "'" { character } "'" */
static const char *string(struct toml_parser *p)
{
	assert(peek(p) == '"' || peek(p) == '\'');
	uint32_t start = p->at;
	char quote = peek(p);
	struct buf text;
	bool ok = true;
	p->at++;
	if (peek(p) == quote && p->at + 1 < p->src->len && p->src->text[p->at + 1] == quote) {
		p->at += 2;
		diag_error(p->d, "project-syntax", p->src, from(p, start), "strings of several lines are not supported");
		return NULL;
	}
	buf_init(&text);
	while (ok && !line_end(p) && peek(p) != quote) {
		char c = p->src->text[p->at++];
		if (c == '\\' && quote == '"') {
			ok = escape(p, &text);
		} else if (control(c)) {
			diag_error(p->d, "project-syntax", p->src, from(p, p->at - 1), "control character in a string");
			ok = false;
		} else {
			buf_char(&text, c);
		}
	}
	if (ok && peek(p) != quote) {
		diag_error(p->d, "project-syntax", p->src, (struct span){ start, start + 1 },
		           "the string is not closed on this line");
		ok = false;
	}
	p->at += ok;
	const char *result = ok && !text.failed ? arena_strndup(p->a, buf_cstr(&text), text.len) : NULL;
	buf_free(&text);
	return result;
}

/* ---- values ------------------------------------------------------------------- */

/* array = "[" { string "," } [ string ] "]" */
static bool array(struct toml_parser *p, struct toml_entry *e)
{
	assert(peek(p) == '[');
	uint32_t start = p->at++;
	e->kind = TOML_ARRAY;
	for (;;) {
		space(p);
		if (peek(p) == ']') {
			p->at++;
			return true;
		}
		if (at_end(p)) {
			diag_error(p->d, "project-syntax", p->src, (struct span){ start, start + 1 }, "the array is not closed");
			return false;
		}
		struct toml_item item = { NULL, { p->at, p->at } };
		if (peek(p) != '"' && peek(p) != '\'') {
			diag_error(p->d, "project-syntax", p->src, (struct span){ p->at, p->at + 1 },
			           "expected a string or ']' in an array");
			return false;
		}
		if (!(item.text = string(p)))
			return false;
		item.at.end = p->at;
		if (e->items.len == TOML_MAX_ITEMS) {
			diag_error(p->d, "project-syntax", p->src, item.at, "more than %d items in an array", TOML_MAX_ITEMS);
			return false;
		}
		avec_push(p->a, &e->items, item);
		space(p);
		if (peek(p) == ',') {
			p->at++;
		} else if (peek(p) != ']') {
			diag_error(p->d, "project-syntax", p->src, (struct span){ p->at, p->at + 1 },
			           "expected ',' or ']' in an array");
			return false;
		}
	}
}

/* integer = [ "+" | "-" ] digits, with single underscores between digits; word = true | false */
static bool scalar(struct toml_parser *p, struct toml_entry *e)
{
	uint32_t start = p->at;
	while (bare(peek(p)) || peek(p) == '+' || peek(p) == '.' || peek(p) == ':')
		p->at++;
	size_t n = p->at - start;
	const char *s = p->src->text + start;
	if ((n == 4 && !memcmp(s, "true", 4)) || (n == 5 && !memcmp(s, "false", 5))) {
		e->kind = TOML_BOOLEAN;
		e->truth = n == 4;
		return true;
	}
	bool negative = n && *s == '-', ok = false, last_digit = false;
	size_t i = n && (*s == '-' || *s == '+');
	uint64_t v = 0;
	for (; i < n; i++) {
		if (s[i] == '_' && last_digit && i + 1 < n) {
			last_digit = false;
			continue;
		}
		if (s[i] < '0' || s[i] > '9' || v > (uint64_t)INT64_MAX / 10 - 1)
			break;
		v = v * 10 + (uint64_t)(s[i] - '0');
		ok = last_digit = true;
	}
	size_t first = n && (*s == '-' || *s == '+');
	ok &= n <= first + 1 || s[first] != '0'; /* 007 is not a number of TOML */
	if (ok && i == n) {
		e->kind = TOML_INTEGER;
		e->number = negative ? -(int64_t)v : (int64_t)v;
		return true;
	}
	if (!n)
		diag_error(p->d, "project-syntax", p->src, from(p, start),
		           peek(p) == '{' ? "inline tables are not supported"
		                          : "expected a value: a string, a number, true, false or an array");
	else
		diag_error(p->d, "project-syntax", p->src, from(p, start), "'%.*s' is not a value", (int)(n > 60 ? 60 : n), s);
	if (n && *s != '-' && (*s < '0' || *s > '9'))
		diag_hint(p->d, "strings are quoted: \"%.*s\"", (int)(n > 60 ? 60 : n), s);
	else if (n)
		diag_hint(p->d, "numbers are integers of at most 18 digits; quote sizes: \"512M\"");
	return false;
}

static bool value(struct toml_parser *p, struct toml_entry *e)
{
	e->at.start = p->at;
	bool ok;
	if (peek(p) == '"' || peek(p) == '\'') {
		e->kind = TOML_STRING;
		e->text = string(p);
		ok = e->text != NULL;
	} else {
		ok = peek(p) == '[' ? array(p, e) : scalar(p, e);
	}
	e->at.end = p->at > e->at.start ? p->at : e->at.start + 1;
	return ok;
}

/* ---- keys and lines ------------------------------------------------------------- */

/* part = bare-key | string; NULL after a message. */
static const char *part(struct toml_parser *p, const char *expected)
{
	uint32_t start = p->at;
	if (peek(p) == '"' || peek(p) == '\'') {
		const char *s = string(p);
		if (s && !*s) {
			diag_error(p->d, "project-syntax", p->src, from(p, start), "an empty key");
			return NULL;
		}
		return s;
	}
	while (bare(peek(p)))
		p->at++;
	if (p->at == start) {
		diag_error(p->d, "project-syntax", p->src, (struct span){ start, start + 1 }, "%s", expected);
		return NULL;
	}
	return arena_strndup(p->a, p->src->text + start, p->at - start);
}

/* key = part { "." part }: all parts but the last go to `table`, after what it has. */
static const char *dotted(struct toml_parser *p, const char **table, const char *expected)
{
	const char *key = part(p, expected);
	for (blanks(p); key && peek(p) == '.'; blanks(p)) {
		p->at++;
		blanks(p);
		*table = **table ? arena_printf(p->a, "%s.%s", *table, key) : key;
		if (strlen(*table) > 1000) {
			diag_error(p->d, "project-syntax", p->src, from(p, p->at - 1), "a key of more than 1000 characters");
			return NULL;
		}
		key = part(p, "expected a key after '.'");
	}
	return key;
}

/* heading = "[" key "]" */
static bool heading(struct toml_parser *p)
{
	assert(peek(p) == '[');
	uint32_t start = p->at++;
	if (peek(p) == '[') {
		diag_error(p->d, "project-syntax", p->src, (struct span){ start, start + 2 }, "arrays of tables are not supported");
		return false;
	}
	const char *table = "";
	blanks(p);
	const char *last = dotted(p, &table, "expected the name of a table");
	if (!last)
		return false;
	blanks(p);
	if (peek(p) != ']') {
		diag_error(p->d, "project-syntax", p->src, (struct span){ p->at, p->at + 1 }, "expected ']'");
		return false;
	}
	p->at++;
	p->table = *table ? arena_printf(p->a, "%s.%s", table, last) : last;
	p->table_at = from(p, start);
	for (uint32_t i = 0; i < p->t->tables.len; i++)
		if (!strcmp(p->t->tables.data[i].name, p->table)) {
			diag_error(p->d, "project-syntax", p->src, p->table_at, "table [%s] is defined twice", p->table);
			diag_note(p->d, p->src, p->t->tables.data[i].at, "the first one");
			return false;
		}
	struct toml_table t = { p->table, p->table_at };
	avec_push(p->a, &p->t->tables, t);
	return true;
}

static bool duplicate(struct toml_parser *p, const struct toml_entry *e)
{
	for (uint32_t i = 0; i < p->t->entries.len; i++) {
		const struct toml_entry *o = &p->t->entries.data[i];
		if (!strcmp(o->key, e->key) && !strcmp(o->table, e->table)) {
			diag_error(p->d, "project-syntax", p->src, e->key_at, "key '%s' is defined twice", e->key);
			diag_note(p->d, p->src, o->key_at, "the first one");
			return true;
		}
	}
	return false;
}

/* pair = key "=" value */
static bool pair(struct toml_parser *p)
{
	struct toml_entry e = { .table = p->table, .table_at = p->table_at, .key_at.start = p->at };
	if (!(e.key = dotted(p, &e.table, "expected a key, a [table] or a comment")))
		return false;
	e.key_at.end = p->at;
	while (e.key_at.end > e.key_at.start + 1 && strchr(" \t", p->src->text[e.key_at.end - 1]))
		e.key_at.end--;
	if (peek(p) != '=') {
		diag_error(p->d, "project-syntax", p->src, (struct span){ p->at, p->at + 1 }, "expected '=' after the key");
		return false;
	}
	p->at++;
	blanks(p);
	if (!value(p, &e) || duplicate(p, &e))
		return false;
	avec_push(p->a, &p->t->entries, e);
	return true;
}

static bool line(struct toml_parser *p)
{
	rest(p);
	if (line_end(p))
		return true;
	if (p->t->entries.len + p->t->tables.len >= TOML_MAX_ENTRIES) {
		diag_error(p->d, "project-syntax", p->src, (struct span){ p->at, p->at + 1 }, "more than %d keys",
		           TOML_MAX_ENTRIES);
		p->at = p->src->len;
		return false;
	}
	if (!(peek(p) == '[' ? heading(p) : pair(p)))
		return false;
	rest(p);
	if (line_end(p))
		return true;
	diag_error(p->d, "project-syntax", p->src, (struct span){ p->at, p->at + 1 }, "expected the end of the line");
	return false;
}

bool toml_read(struct toml *t, const struct source *src, struct diags *d)
{
	struct toml_parser p = { .t = t, .src = src, .d = d, .a = d->arena, .table = "" };
	uint32_t before = d->errors;
	memset(t, 0, sizeof *t);
	if (src->len > TOML_MAX_BYTES) {
		diag_error(d, "project-syntax", src, (struct span){ 0, 1 }, "the file is larger than 1 MiB");
		return false;
	}
	for (uint32_t i = 0, n; i < src->len; i += n) {
		uint32_t c;
		if (!(n = utf8_decode(src->text + i, src->len - i, &c))) {
			diag_error(d, "project-syntax", src, (struct span){ i, i + 1 }, "the text is not UTF-8");
			return false;
		}
	}
	while (!at_end(&p)) {
		if (!line(&p))
			to_line_end(&p); /* one message per line */
		assert(line_end(&p));
		if (!at_end(&p))
			p.at += peek(&p) == '\r' ? 2 : 1;
	}
	return d->errors == before;
}
