#include "history/form.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"
#include "base/utf8.h"

enum form_status form_fail(struct form *f, const char *at, const char *why)
{
	assert(why && at);
	if (f->why)
		return FORM_BAD;
	f->why = why;
	f->at = at;
	assert(f->why && f->at);
	return FORM_BAD;
}

/* The text stopped at p: wait for more, or report an error at the end of the input. */
static enum form_status stopped(struct form *f, const char *p, const char *why)
{
	if (p >= f->end && !f->last)
		return FORM_MORE;
	return form_fail(f, p, p >= f->end ? "the text ends in the middle of a record" : why);
}

/* What a character is in a form. White space of EDN includes commas; a line's end is not here: it is counted. */
enum { NAME = 1, SPACE_JSON = 2, SPACE_EDN = 4 };
static const unsigned char kind_of[256] = {
	['a' ... 'z'] = NAME,
	['A' ... 'Z'] = NAME,
	['0' ... '9'] = NAME,
	[0x80 ... 0xff] = NAME,
	['-'] = NAME,
	['_'] = NAME,
	['.'] = NAME,
	['*'] = NAME,
	['+'] = NAME,
	['!'] = NAME,
	['?'] = NAME,
	['/'] = NAME,
	['<'] = NAME,
	['>'] = NAME,
	['='] = NAME,
	['$'] = NAME,
	['%'] = NAME,
	['&'] = NAME,
	['\''] = NAME,
	['#'] = NAME,
	['|'] = NAME,
	[':'] = NAME,
	['@'] = NAME,
	[','] = SPACE_EDN,
	[' '] = SPACE_JSON | SPACE_EDN,
	['\t'] = SPACE_JSON | SPACE_EDN,
	['\r'] = SPACE_JSON | SPACE_EDN,
};

static bool name_char(char c)
{
	return kind_of[(unsigned char)c] & NAME;
}

void form_space(struct form *f)
{
	assert(f->p <= f->end && !*f->end);
	const char *p = f->p;
	unsigned char space = f->json ? SPACE_JSON : SPACE_EDN;
	for (;; p++) {
		while (kind_of[(unsigned char)*p] & space)
			p++;
		if (*p == '\n')
			f->newlines++;
		else if (*p == ';' && !f->json)
			p += strcspn(p, "\n") - 1;
		else
			break;
	}
	f->p = p;
	assert(f->p <= f->end);
}

enum form_status form_name(struct form *f, const char **s, size_t *len)
{
	assert(f->p <= f->end);
	const char *p = f->p;
	if (*p == '"') {
		const char *q = ++p;
		for (; *q && *q != '"' && *q != '\\'; q++)
			f->newlines += *q == '\n';
		if (*q != '"')
			return stopped(f, q, "expected a plain name");
		p += *p == ':'; /* a keyword that became a string */
		*s = p;
		*len = (size_t)(q - p);
		assert(q >= p && q <= f->end);
		f->p = q + 1;
		return FORM_OK;
	}
	if (*p == ':')
		p++;
	const char *q = p;
	while (name_char(*q))
		q++;
	if (q >= f->end && !f->last)
		return FORM_MORE;
	if (q == p)
		return stopped(f, p, f->json ? "expected a name in quotes" : "expected a keyword such as :type");
	*s = p;
	*len = (size_t)(q - p);
	f->p = q;
	return FORM_OK;
}

enum form_status form_int(struct form *f, int64_t *n)
{
	const char *p = f->p;
	bool neg = *p == '-';
	uint64_t x = 0;
	p += neg || *p == '+';
	const char *digits = p;
	for (; *p >= '0' && *p <= '9'; p++) {
		if (x > (INT64_MAX - 9) / 10)
			return form_fail(f, f->p, "the number is too large");
		x = x * 10 + (uint64_t)(*p - '0');
	}
	if (p >= f->end && !f->last)
		return FORM_MORE;
	if (p == digits || *p == '.' || *p == 'e' || *p == 'E')
		return stopped(f, f->p, "expected a whole number");
	*n = neg ? -(int64_t)x : (int64_t)x;
	f->p = p;
	assert(p <= f->end && digits < p);
	return FORM_OK;
}

static int hex4(const char *p, uint32_t *out)
{
	*out = 0;
	for (int i = 0; i < 4; i++) {
		char c = p[i];
		int d = c >= '0' && c <= '9'   ? c - '0'
		        : c >= 'a' && c <= 'f' ? c - 'a' + 10
		        : c >= 'A' && c <= 'F' ? c - 'A' + 10
		                               : -1;
		if (d < 0)
			return 0;
		*out = *out << 4 | (uint32_t)d;
	}
	return 1;
}

/* Unescapes [s, e) into out (as long as the text); returns the length. */
static bool unescape(struct form *f, const char *s, const char *e, char *out, size_t *len)
{
	assert(s <= e);
	char *o = out;
	while (s < e) {
		if (*s != '\\') {
			*o++ = *s++;
			continue;
		}
		static const char from[] = "nrtbf\"\\/", to[] = "\n\r\t\b\f\"\\/";
		const char *k = s[1] ? strchr(from, s[1]) : NULL;
		uint32_t cp, low;
		if (k) {
			*o++ = to[k - from];
			s += 2;
		} else if (s[1] == 'u' && e - s >= 6 && hex4(s + 2, &cp)) {
			s += 6;
			if (cp >= 0xD800 && cp < 0xDC00 && e - s >= 6 && s[0] == '\\' && s[1] == 'u' && hex4(s + 2, &low) &&
			    low >= 0xDC00 && low < 0xE000) {
				cp = 0x10000 + ((cp - 0xD800) << 10) + (low - 0xDC00);
				s += 6;
			} else if (cp >= 0xD800 && cp < 0xE000) {
				cp = 0xFFFD;
			}
			o += utf8_encode(cp, o);
		} else {
			form_fail(f, s, "unknown escape in a string");
			return false;
		}
	}
	*len = (size_t)(o - out);
	assert(s >= e);
	return true;
}

static enum form_status string(struct form *f, val *v)
{
	assert(*f->p == '"');
	const char *s = f->p + 1, *q = s;
	bool escaped = false;
	for (; *q != '"'; q++) {
		if (q >= f->end)
			return stopped(f, q, "");
		if (*q == '\\') {
			escaped = true;
			if (++q >= f->end)
				return stopped(f, q, "");
		}
		if (*q == '\n')
			f->newlines++;
	}
	f->p = q + 1;
	if (!v)
		return FORM_OK;
	if (!escaped) {
		*v = val_text(f->vals, VK_STR, s, (size_t)(q - s));
		return FORM_OK;
	}
	char *tmp = malloc((size_t)(q - s) + 4);
	size_t len;
	if (!tmp)
		return form_fail(f, s, "out of memory");
	bool ok = unescape(f, s, q, tmp, &len);
	if (ok)
		*v = val_text(f->vals, VK_STR, tmp, len);
	free(tmp);
	return ok ? FORM_OK : FORM_BAD;
}

static enum form_status number(struct form *f, val *v)
{
	assert(f->p < f->end);
	const char *p = f->p, *s = p;
	bool neg = *p == '-', whole = true;
	uint64_t x = 0;
	p += neg || *p == '+';
	const char *digits = p;
	for (; *p >= '0' && *p <= '9'; p++) {
		if (x > (INT64_MAX - 9) / 10)
			whole = false;
		else
			x = x * 10 + (uint64_t)(*p - '0');
	}
	if (p == digits)
		return stopped(f, p, "expected a number");
	if (*p == '.' || *p == 'e' || *p == 'E') {
		whole = false;
		while ((*p >= '0' && *p <= '9') || (*p && strchr(".eE+-", *p)))
			p++;
	}
	const char *e = p;
	if (!f->json && (*p == 'N' || *p == 'M'))
		p++;
	if (p >= f->end && !f->last)
		return FORM_MORE;
	if (name_char(*p) && *p != ':')
		return form_fail(f, p, "expected the end of a number");
	f->p = p;
	if (v)
		*v = whole ? val_int(f->vals, neg ? -(int64_t)x : (int64_t)x) : val_text(f->vals, VK_NUM, s, (size_t)(e - s));
	return FORM_OK;
}

static enum form_status word(struct form *f, val *v)
{
	assert(f->p < f->end);
	bool keyword = *f->p == ':';
	const char *s;
	size_t len;
	const char *at = f->p;
	enum form_status st = form_name(f, &s, &len);
	if (st != FORM_OK)
		return st;
#define IS(w) (!keyword && len == sizeof(w) - 1 && !memcmp(s, w, sizeof(w) - 1))
	val x;
	if (IS("nil") || IS("null"))
		x = VAL_NIL;
	else if (IS("true"))
		x = VAL_TRUE;
	else if (IS("false"))
		x = VAL_FALSE;
	else if (f->json)
		return form_fail(f, at, "expected a JSON value");
	else
		x = v ? val_text(f->vals, VK_WORD, s, len) : 0;
#undef IS
	if (v)
		*v = x;
	return FORM_OK;
}

/* Elements up to `close`; in JSON objects pairs are key : value. */
static enum form_status sequence(struct form *f, char close, enum value_kind kind, val *v, int depth)
{
	assert(kind == VK_LIST || kind == VK_SET);
	assert(depth >= 0 && depth <= FORM_DEPTH);
	val *elems = NULL;
	uint32_t n = 0, cap = 0;
	bool map = close == '}' && kind == VK_LIST;
	enum form_status st = FORM_OK;
	const char *open = f->p++;
	for (;;) {
		form_space(f);
		if (*f->p == close) {
			f->p++;
			break;
		}
		if (f->json && n && !(map && (n & 1))) {
			if (*f->p != ',') {
				st = stopped(f, f->p, "expected ',' or the closing bracket");
				break;
			}
			f->p++;
			form_space(f);
		}
		if (f->json && map && (n & 1)) {
			if (*f->p != ':') {
				st = stopped(f, f->p, "expected ':' after the name");
				break;
			}
			f->p++;
			form_space(f);
		}
		val x = 0;
		if (!*f->p || *f->p == ']' || *f->p == ')' || *f->p == '}') {
			st = stopped(f, f->p, "expected a value");
			break;
		}
		st = form_value(f, v ? &x : NULL, depth + 1);
		if (st != FORM_OK)
			break;
		if (n >= FORM_MAX_ELEMS) {
			st = form_fail(f, open, "too many elements in one list");
			break;
		}
		if (v && !GROW_RAW(elems, cap, n + 1ull)) {
			st = form_fail(f, open, "out of memory");
			break;
		}
		if (v)
			elems[n] = x;
		n++;
	}
	if (st == FORM_OK && v)
		*v = val_list(f->vals, kind, elems, n);
	free(elems);
	return st;
}

enum form_status form_value(struct form *f, val *v, int depth)
{
	assert(depth >= 0 && depth <= FORM_DEPTH + 1 && f->p <= f->end);
	if (depth > FORM_DEPTH)
		return form_fail(f, f->p, "nested too deeply");
	char c = *f->p;
	if ((c >= '0' && c <= '9') || c == '-' || (c == '+' && f->p[1] >= '0' && f->p[1] <= '9'))
		return number(f, v);
	switch (c) {
	case '"':
		return string(f, v);
	case '[':
		return sequence(f, ']', VK_LIST, v, depth);
	case '{':
		return sequence(f, '}', VK_LIST, v, depth);
	case '(':
		if (!f->json)
			return sequence(f, ')', VK_LIST, v, depth);
		break;
	case '#':
		if (f->json)
			break;
		f->p++;
		if (*f->p == '{')
			return sequence(f, '}', VK_SET, v, depth);
		{
			const char *s;
			size_t len;
			enum form_status st = form_name(f, &s, &len);
			if (st != FORM_OK)
				return st;
		}
		form_space(f);
		return form_value(f, v, depth + 1);
	default:
		if (c == ':' ? !f->json : name_char(c))
			return word(f, v);
	}
	return stopped(f, f->p, "expected a value");
}

enum form_status form_skip(struct form *f, int depth)
{
	return form_value(f, NULL, depth);
}
