/*
 * jansson: the part of jansson's interface that Intact uses (jansson.h), for WebAssembly.
 *
 * A value is a struct whose first member is the json_t: the constants are static, arrays and objects own one vector each.
 * Members of an object are kept in their order, with a table by hash behind the first eight. Reading is recursive descent,
 * MAX_DEPTH levels at most, as deep as jansson's own. Texts are UTF-8 throughout: what is not is an error, as there.
 * Not there: locks, setters of numbers, iterators, unpack, formats of pack beyond those named in the header.
 */
#include <jansson.h>

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/utf8.h"

#define MAX_DEPTH 2048

struct text {
	json_t v;
	size_t len;
	char s[];
};
struct number {
	json_t v;
	json_int_t i;
	double d;
};
struct member {
	char *key;
	json_t *item;
};
struct list {
	json_t v;
	size_t n, cap;
	struct member *m; /* of an array: keys are NULL */
	uint32_t *slots;  /* of an object of more than FEW: number of a member, from 1; 0 free */
	size_t nslots;
};
#define FEW 8

/* ---- making --------------------------------------------------------------------------------- */

static json_t *make(size_t size, json_type type)
{
	json_t *v = calloc(1, size);
	if (v)
		*v = (json_t){ type, 1 };
	return v;
}

json_t *json_object(void)
{
	return make(sizeof(struct list), JSON_OBJECT);
}

json_t *json_array(void)
{
	return make(sizeof(struct list), JSON_ARRAY);
}

json_t *json_stringn(const char *text, size_t len)
{
	struct text *t = (struct text *)make(sizeof *t + len + 1, JSON_STRING);
	if (!t)
		return NULL;
	memcpy(t->s, text, len);
	t->len = len;
	return &t->v;
}

json_t *json_string(const char *text)
{
	return text ? json_stringn(text, strlen(text)) : NULL;
}

json_t *json_integer(json_int_t n)
{
	struct number *x = (struct number *)make(sizeof *x, JSON_INTEGER);
	if (x)
		x->i = n;
	return x ? &x->v : NULL;
}

json_t *json_real(double d)
{
	struct number *x = isfinite(d) ? (struct number *)make(sizeof *x, JSON_REAL) : NULL;
	if (x)
		x->d = d;
	return x ? &x->v : NULL;
}

/* They are never freed: one reference is the program's. */
static json_t *constant(json_t *v)
{
	return json_incref(v);
}

json_t *json_true(void)
{
	static json_t v = { JSON_TRUE, 1 };
	return constant(&v);
}

json_t *json_false(void)
{
	static json_t v = { JSON_FALSE, 1 };
	return constant(&v);
}

json_t *json_null(void)
{
	static json_t v = { JSON_NULL, 1 };
	return constant(&v);
}

static const struct list *list_of(const json_t *v, json_type type)
{
	return v && v->type == type ? (const struct list *)v : NULL;
}

void json_delete(json_t *v)
{
	if (v->type == JSON_OBJECT || v->type == JSON_ARRAY) {
		struct list *l = (struct list *)v;
		for (size_t i = 0; i < l->n; i++) {
			free(l->m[i].key);
			json_decref(l->m[i].item);
		}
		free(l->m);
		free(l->slots);
	}
	free(v);
}

/* ---- asking --------------------------------------------------------------------------------- */

const char *json_string_value(const json_t *v)
{
	return json_is_string(v) ? ((const struct text *)v)->s : NULL;
}

size_t json_string_length(const json_t *v)
{
	return json_is_string(v) ? ((const struct text *)v)->len : 0;
}

json_int_t json_integer_value(const json_t *v)
{
	return json_is_integer(v) ? ((const struct number *)v)->i : 0;
}

double json_number_value(const json_t *v)
{
	return json_is_real(v) ? ((const struct number *)v)->d : (double)json_integer_value(v);
}

size_t json_array_size(const json_t *v)
{
	const struct list *l = list_of(v, JSON_ARRAY);
	return l ? l->n : 0;
}

json_t *json_array_get(const json_t *v, size_t i)
{
	const struct list *l = list_of(v, JSON_ARRAY);
	return l && i < l->n ? l->m[i].item : NULL;
}

size_t json_object_size(const json_t *v)
{
	const struct list *l = list_of(v, JSON_OBJECT);
	return l ? l->n : 0;
}

bool json_object_at(const json_t *v, size_t i, const char **key, json_t **item)
{
	const struct list *l = list_of(v, JSON_OBJECT);
	if (!l || i >= l->n)
		return false;
	*key = l->m[i].key;
	*item = l->m[i].item;
	return true;
}

static size_t hash_of(const char *key)
{
	uint32_t h = 2166136261u;
	for (; *key; key++)
		h = (h ^ (unsigned char)*key) * 16777619u;
	return h ^ h >> 15;
}

/* Of the table: where the key is, or the free place in which it belongs. */
static size_t slot_of(const struct list *l, const char *key)
{
	size_t at = hash_of(key) & (l->nslots - 1);
	while (l->slots[at] && strcmp(l->m[l->slots[at] - 1].key, key) != 0)
		at = (at + 1) & (l->nslots - 1);
	return at;
}

static size_t find(const struct list *l, const char *key) /* or l->n */
{
	size_t i = 0;
	if (l->slots) {
		uint32_t at = l->slots[slot_of(l, key)];
		return at ? at - 1 : l->n;
	}
	while (i < l->n && strcmp(l->m[i].key, key) != 0)
		i++;
	return i;
}

json_t *json_object_get(const json_t *v, const char *key)
{
	const struct list *l = list_of(v, JSON_OBJECT);
	size_t i = l && key ? find(l, key) : 0;
	return l && key && i < l->n ? l->m[i].item : NULL;
}

/* ---- changing -------------------------------------------------------------------------------- */

static bool index_members(struct list *l)
{
	size_t want = 32;
	while (want < l->n * 3)
		want *= 2;
	uint32_t *slots = calloc(want, sizeof *slots);
	if (!slots)
		return false;
	free(l->slots);
	l->slots = slots;
	l->nslots = want;
	for (size_t i = 0; i < l->n; i++)
		slots[slot_of(l, l->m[i].key)] = (uint32_t)i + 1;
	return true;
}

/* Takes the key and the item, also when it fails. */
static int append(struct list *l, char *key, json_t *item)
{
	if (l->n == l->cap) {
		size_t cap = l->cap ? l->cap * 2 : 4;
		struct member *m = realloc(l->m, cap * sizeof *m);
		if (!m)
			goto failed;
		l->m = m;
		l->cap = cap;
	}
	l->m[l->n++] = (struct member){ key, item };
	if (!key || l->n <= FEW)
		return 0;
	if (!l->slots || l->n * 2 > l->nslots) {
		if (index_members(l))
			return 0;
		l->n--;
		goto failed;
	}
	l->slots[slot_of(l, key)] = (uint32_t)l->n;
	return 0;
failed:
	free(key);
	json_decref(item);
	return -1;
}

int json_array_append_new(json_t *v, json_t *item)
{
	if (item && json_is_array(v))
		return append((struct list *)v, NULL, item);
	json_decref(item);
	return -1;
}

int json_object_set_new(json_t *v, const char *key, json_t *item)
{
	if (!item || !key || !json_is_object(v)) {
		json_decref(item);
		return -1;
	}
	struct list *l = (struct list *)v;
	size_t i = find(l, key);
	if (i < l->n) {
		json_decref(l->m[i].item);
		l->m[i].item = item;
		return 0;
	}
	char *own = strdup(key);
	if (!own) {
		json_decref(item);
		return -1;
	}
	return append(l, own, item);
}

int json_object_del(json_t *v, const char *key)
{
	struct list *l = (struct list *)v;
	size_t i = json_is_object(v) && key ? find(l, key) : 0;
	if (!json_is_object(v) || !key || i == l->n)
		return -1;
	free(l->m[i].key);
	json_decref(l->m[i].item);
	memmove(&l->m[i], &l->m[i + 1], (l->n - i - 1) * sizeof *l->m);
	l->n--;
	if (l->slots) { /* of the same size, so nothing can fail */
		memset(l->slots, 0, l->nslots * sizeof *l->slots);
		for (size_t k = 0; k < l->n; k++)
			l->slots[slot_of(l, l->m[k].key)] = (uint32_t)k + 1;
	}
	return 0;
}

int json_array_remove(json_t *v, size_t i)
{
	struct list *l = (struct list *)v;
	if (!json_is_array(v) || i >= l->n)
		return -1;
	json_decref(l->m[i].item);
	memmove(&l->m[i], &l->m[i + 1], (l->n - i - 1) * sizeof *l->m);
	l->n--;
	return 0;
}

static json_t *copied(const json_t *v, bool deep)
{
	const struct list *from = list_of(v, JSON_OBJECT) ? list_of(v, JSON_OBJECT) : list_of(v, JSON_ARRAY);
	if (!from) /* the others never change */
		return json_incref((json_t *)(uintptr_t)v);
	json_t *to = make(sizeof(struct list), v->type);
	for (size_t i = 0; to && i < from->n; i++) {
		char *key = from->m[i].key ? strdup(from->m[i].key) : NULL;
		json_t *item = deep ? copied(from->m[i].item, true) : json_incref(from->m[i].item);
		bool ok = item && (key || !from->m[i].key);
		if (!ok) {
			free(key);
			json_decref(item);
		}
		if (!ok || append((struct list *)to, key, item)) {
			json_decref(to);
			return NULL;
		}
	}
	return to;
}

json_t *json_copy(json_t *v)
{
	return v ? copied(v, false) : NULL;
}

json_t *json_deep_copy(const json_t *v)
{
	return v ? copied(v, true) : NULL;
}

int json_equal(const json_t *a, const json_t *b)
{
	if (!a || !b || a->type != b->type)
		return 0;
	const struct list *x = (const struct list *)a, *y = (const struct list *)b;
	switch (a->type) {
	case JSON_STRING:
		return json_string_length(a) == json_string_length(b) &&
		       !memcmp(json_string_value(a), json_string_value(b), json_string_length(a));
	case JSON_INTEGER:
		return json_integer_value(a) == json_integer_value(b);
	case JSON_REAL:
		return json_number_value(a) == json_number_value(b);
	case JSON_OBJECT:
	case JSON_ARRAY:
		if (x->n != y->n)
			return 0;
		for (size_t i = 0; i < x->n; i++)
			if (!json_equal(x->m[i].item, x->m[i].key ? json_object_get(b, x->m[i].key) : y->m[i].item))
				return 0;
		return 1;
	default:
		return 1;
	}
}

/* ---- packing --------------------------------------------------------------------------------- */

static json_t *pack(const char **f, va_list *ap)
{
	*f += strspn(*f, " ,:");
	char c = *(*f)++;
	bool object = c == '{';
	json_t *v = NULL, *item;
	if (c == 's')
		return json_string(va_arg(*ap, const char *));
	if (c == 'i')
		return json_integer(va_arg(*ap, int));
	if (c == 'I')
		return json_integer(va_arg(*ap, json_int_t));
	if (c == 'b')
		return va_arg(*ap, int) ? json_true() : json_false();
	if (c == 'n')
		return json_null();
	if (c == 'o')
		return va_arg(*ap, json_t *);
	v = object ? json_object() : json_array();
	for (bool ok = true;;) { /* to the end even if it has failed: what is passed is taken */
		*f += strspn(*f, " ,:");
		if (**f == '}' || **f == ']' || !**f) {
			*f += **f != 0;
			if (!ok) {
				json_decref(v);
				v = NULL;
			}
			return v;
		}
		const char *key = NULL;
		if (object) {
			key = va_arg(*ap, const char *);
			(*f)++;
		}
		item = pack(f, ap);
		ok &= !(object ? json_object_set_new(v, key, item) : json_array_append_new(v, item));
	}
}

json_t *json_pack(const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	json_t *v = pack(&format, &ap);
	va_end(ap);
	return v;
}

/* ---- writing --------------------------------------------------------------------------------- */

struct writer {
	json_dump_callback_t put;
	void *arg;
	size_t flags;
	bool failed;
};

static void put(struct writer *w, const char *s, size_t n)
{
	w->failed = w->failed || (n && w->put(s, n, w->arg));
}

static void put_escape(struct writer *w, uint32_t unit)
{
	char s[8];
	put(w, s, (size_t)snprintf(s, sizeof s, "\\u%04X", (unsigned)unit));
}

static void put_string(struct writer *w, const char *s, size_t len)
{
	static const char named[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
	size_t from = 0;
	put(w, "\"", 1);
	for (size_t i = 0; i < len;) {
		unsigned char c = (unsigned char)s[i];
		const char *n = c ? strchr(named, c) : NULL;
		if (c >= 0x20 && c != '"' && c != '\\' && (c < 0x80 || !(w->flags & JSON_ENSURE_ASCII))) {
			i++;
			continue;
		}
		put(w, s + from, i - from);
		if (n) {
			char e[2] = { '\\', names[n - named] };
			put(w, e, 2);
			i++;
		} else if (c < 0x80) {
			put_escape(w, c);
			i++;
		} else {
			uint32_t code = 0xFFFD;
			unsigned n_bytes = utf8_decode(s + i, len - i, &code);
			i += n_bytes ? n_bytes : 1;
			if (code >= 0x10000) {
				put_escape(w, 0xD800 + ((code - 0x10000) >> 10));
				code = 0xDC00 + ((code - 0x10000) & 0x3FF);
			}
			put_escape(w, code);
		}
		from = i;
	}
	put(w, s + from, len - from);
	put(w, "\"", 1);
}

static void new_line(struct writer *w, unsigned depth)
{
	size_t indent = w->flags & 0x1f;
	if (!indent)
		return;
	put(w, "\n", 1);
	for (size_t i = indent * depth; i; i--)
		put(w, " ", 1);
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct member *)a)->key, ((const struct member *)b)->key);
}

/* With a mark of a real number, and exponents without plus and leading zeros. */
static void put_real(struct writer *w, double d)
{
	char s[40];
	snprintf(s, sizeof s, "%.17g", d);
	char *e = strchr(s, 'e'), *digits = e;
	if (e) {
		digits += e[1] == '-' ? 2 : 1;
		e = digits;
		digits += strspn(digits, "+0");
		memmove(e, digits, strlen(digits) + 1);
	}
	put(w, s, strlen(s));
	if (!strpbrk(s, ".e"))
		put(w, ".0", 2);
}

static void put_value(struct writer *w, const json_t *v, unsigned depth);

static void put_list(struct writer *w, const json_t *v, unsigned depth)
{
	const struct list *l = (const struct list *)v;
	bool object = v->type == JSON_OBJECT, sorted = object && (w->flags & JSON_SORT_KEYS);
	struct member *m = l->m;
	if (sorted && l->n && (m = malloc(l->n * sizeof *m))) {
		memcpy(m, l->m, l->n * sizeof *m);
		qsort(m, l->n, sizeof *m, by_key);
	}
	w->failed |= l->n && !m;
	put(w, object ? "{" : "[", 1);
	for (size_t i = 0; i < l->n && !w->failed; i++) {
		if (i)
			put(w, ", ", (w->flags & (JSON_COMPACT | 0x1f)) ? 1 : 2);
		new_line(w, depth + 1);
		if (object) {
			put_string(w, m[i].key, strlen(m[i].key));
			put(w, ": ", w->flags & JSON_COMPACT ? 1 : 2);
		}
		put_value(w, m[i].item, depth + 1);
	}
	if (l->n)
		new_line(w, depth);
	put(w, object ? "}" : "]", 1);
	if (m != l->m)
		free(m);
}

static void put_value(struct writer *w, const json_t *v, unsigned depth)
{
	char s[40];
	switch (v->type) {
	case JSON_OBJECT:
	case JSON_ARRAY:
		put_list(w, v, depth);
		break;
	case JSON_STRING:
		put_string(w, json_string_value(v), json_string_length(v));
		break;
	case JSON_INTEGER:
		put(w, s, (size_t)snprintf(s, sizeof s, "%lld", json_integer_value(v)));
		break;
	case JSON_REAL:
		put_real(w, json_number_value(v));
		break;
	default:
		put(w, v->type == JSON_TRUE ? "true" : v->type == JSON_FALSE ? "false" : "null", v->type == JSON_FALSE ? 5 : 4);
	}
}

int json_dump_callback(const json_t *v, json_dump_callback_t callback, void *arg, size_t flags)
{
	struct writer w = { callback, arg, flags, false };
	if (!v || (!(flags & JSON_ENCODE_ANY) && v->type != JSON_OBJECT && v->type != JSON_ARRAY))
		return -1;
	put_value(&w, v, 0);
	return w.failed ? -1 : 0;
}

static int to_buf(const char *text, size_t len, void *arg)
{
	buf_add(arg, text, len);
	return ((struct buf *)arg)->failed;
}

char *json_dumps(const json_t *v, size_t flags)
{
	struct buf b;
	buf_init(&b);
	char *text = json_dump_callback(v, to_buf, &b, flags) ? NULL : strdup(buf_cstr(&b));
	buf_free(&b);
	return text;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct reader {
	const char *s, *at, *end;
	size_t flags;
	unsigned depth;
	json_error_t *e;
	bool failed;
};

static json_t *wrong(struct reader *r, const char *what)
{
	if (!r->failed && r->e) {
		const char *line = r->s;
		memset(r->e, 0, sizeof *r->e);
		r->e->line = 1;
		for (const char *p = r->s; p < r->at; p++)
			if (*p == '\n') {
				r->e->line++;
				line = p + 1;
			}
		r->e->position = (int)(r->at - r->s);
		r->e->column = (int)(r->at - line);
		snprintf(r->e->source, sizeof r->e->source, "<buffer>");
		snprintf(r->e->text, sizeof r->e->text, r->at >= r->end ? "%s near end of file" : "%s near '%.10s'", what, r->at);
	}
	r->failed = true;
	return NULL;
}

static void blanks(struct reader *r)
{
	while (r->at < r->end && memchr(" \t\r\n", *r->at, 4))
		r->at++;
}

static bool taken(struct reader *r, char c)
{
	blanks(r);
	bool there = r->at < r->end && *r->at == c;
	r->at += there;
	return there;
}

static bool unit(struct reader *r, uint32_t *out)
{
	*out = 0;
	for (int i = 0; i < 4; i++, r->at++) {
		if (r->at >= r->end || !isxdigit((unsigned char)*r->at))
			return false;
		int c = tolower((unsigned char)*r->at);
		*out = *out << 4 | (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return true;
}

/* Behind the backslash. */
static bool escape(struct reader *r, struct buf *b)
{
	static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	char c = r->at < r->end ? *r->at++ : 0;
	const char *n = c ? strchr(names, c) : NULL;
	uint32_t code, low;
	if (n)
		buf_char(b, values[n - names]);
	if (n)
		return true;
	if (c != 'u' || !unit(r, &code) || (code >= 0xDC00 && code <= 0xDFFF))
		return false;
	if (code >= 0xD800 && code <= 0xDBFF) {
		if (r->end - r->at < 6 || memcmp(r->at, "\\u", 2) != 0)
			return false;
		r->at += 2;
		if (!unit(r, &low) || low < 0xDC00 || low > 0xDFFF)
			return false;
		code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
	}
	if (!code && !(r->flags & JSON_ALLOW_NUL))
		return false;
	char s[4] = { 0 };
	buf_add(b, s, code ? utf8_encode(code, s) : 1);
	return true;
}

/* Behind the opening quote. */
static bool string(struct reader *r, struct buf *b)
{
	while (r->at < r->end && *r->at != '"') {
		unsigned char c = (unsigned char)*r->at;
		if (c < 0x20)
			return wrong(r, "control character in a string"), false;
		if (c == '\\') {
			r->at++;
			if (!escape(r, b))
				return wrong(r, "invalid escape"), false;
			continue;
		}
		uint32_t code;
		unsigned n = utf8_decode(r->at, (size_t)(r->end - r->at), &code);
		if (!n)
			return wrong(r, "unable to decode byte"), false;
		buf_add(b, r->at, n);
		r->at += n;
	}
	if (r->at >= r->end)
		return wrong(r, "premature end of input"), false;
	r->at++;
	return !b->failed;
}

static json_t *number(struct reader *r)
{
	const char *from = r->at;
	char text[400];
	bool real = false;
	if (*r->at == '-')
		r->at++;
	const char *digits = r->at;
	while (r->at < r->end && isdigit((unsigned char)*r->at))
		r->at++;
	if (r->at == digits || (*digits == '0' && r->at - digits > 1))
		return wrong(r, "invalid token");
	if (r->at < r->end && *r->at == '.') {
		const char *dot = r->at++;
		real = true;
		while (r->at < r->end && isdigit((unsigned char)*r->at))
			r->at++;
		if (r->at == dot + 1)
			return wrong(r, "invalid token");
	}
	if (r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
		real = true;
		r->at++;
		r->at += r->at < r->end && (*r->at == '+' || *r->at == '-');
		const char *exponent = r->at;
		while (r->at < r->end && isdigit((unsigned char)*r->at))
			r->at++;
		if (r->at == exponent)
			return wrong(r, "invalid token");
	}
	size_t n = (size_t)(r->at - from);
	if (n >= sizeof text)
		return wrong(r, "number too long");
	memcpy(text, from, n);
	text[n] = 0;
	errno = 0;
	json_t *v = real ? json_real(strtod(text, NULL)) : json_integer(strtoll(text, NULL, 10));
	if (!real && errno == ERANGE) {
		json_decref(v);
		return wrong(r, "too big integer");
	}
	return v ? v : wrong(r, real ? "real number overflow" : "out of memory");
}

static json_t *value(struct reader *r);

/* One member of an object, with its key. */
static void member(struct reader *r, json_t *o, struct buf *key)
{
	buf_clear(key);
	if (!taken(r, '"'))
		wrong(r, "string or '}' expected");
	else if (!string(r, key))
		wrong(r, "out of memory");
	else if (strlen(buf_cstr(key)) != key->len)
		wrong(r, "NUL byte in object key not supported");
	else if ((r->flags & JSON_REJECT_DUPLICATES) && json_object_get(o, buf_cstr(key)))
		wrong(r, "duplicate object key");
	else if (!taken(r, ':'))
		wrong(r, "':' expected");
	else if (json_object_set_new(o, buf_cstr(key), value(r)))
		wrong(r, "out of memory");
}

static json_t *members(struct reader *r)
{
	json_t *o = json_object();
	struct buf key;
	if (taken(r, '}'))
		return o;
	buf_init(&key);
	do
		member(r, o, &key);
	while (!r->failed && taken(r, ','));
	buf_free(&key);
	if (!r->failed && !taken(r, '}'))
		wrong(r, "'}' expected");
	return o;
}

static json_t *items(struct reader *r)
{
	json_t *a = json_array();
	if (taken(r, ']'))
		return a;
	do
		if (json_array_append_new(a, value(r)))
			wrong(r, "out of memory");
	while (!r->failed && taken(r, ','));
	if (!r->failed && !taken(r, ']'))
		wrong(r, "']' expected");
	return a;
}

static json_t *word(struct reader *r, const char *text, json_t *v)
{
	size_t n = strlen(text);
	if ((size_t)(r->end - r->at) < n || memcmp(r->at, text, n) != 0)
		return wrong(r, "invalid token");
	r->at += n;
	return v;
}

static json_t *value(struct reader *r)
{
	json_t *v = NULL;
	struct buf b;
	blanks(r);
	if (r->at >= r->end)
		return wrong(r, "'[' or '{' expected");
	if (++r->depth > MAX_DEPTH)
		return wrong(r, "maximum parsing depth reached");
	switch (*r->at) {
	case '{':
		r->at++;
		v = members(r);
		break;
	case '[':
		r->at++;
		v = items(r);
		break;
	case '"':
		r->at++;
		buf_init(&b);
		v = string(r, &b) ? json_stringn(buf_cstr(&b), b.len) : NULL;
		buf_free(&b);
		if (!v)
			wrong(r, "out of memory");
		break;
	case 't':
		v = word(r, "true", json_true());
		break;
	case 'f':
		v = word(r, "false", json_false());
		break;
	case 'n':
		v = word(r, "null", json_null());
		break;
	default:
		v = number(r);
	}
	r->depth--;
	if (r->failed) {
		json_decref(v);
		v = NULL;
	}
	return v;
}

json_t *json_loadb(const char *text, size_t len, size_t flags, json_error_t *e)
{
	struct reader r = { text, text, text + len, flags, 0, e, false };
	blanks(&r);
	if (!(flags & JSON_DECODE_ANY) && (r.at >= r.end || (*r.at != '{' && *r.at != '[')))
		return wrong(&r, "'[' or '{' expected");
	json_t *v = value(&r);
	blanks(&r);
	if (v && !(flags & JSON_DISABLE_EOF_CHECK) && r.at < r.end) {
		json_decref(v);
		return wrong(&r, "end of file expected");
	}
	return v;
}

json_t *json_loads(const char *text, size_t flags, json_error_t *e)
{
	return json_loadb(text, strlen(text), flags, e);
}

json_t *json_loadf(FILE *f, size_t flags, json_error_t *e)
{
	char chunk[4096];
	size_t n;
	struct buf b;
	buf_init(&b);
	while ((n = fread(chunk, 1, sizeof chunk, f)))
		buf_add(&b, chunk, n);
	json_t *v = b.failed ? NULL : json_loadb(buf_cstr(&b), b.len, flags, e);
	buf_free(&b);
	return v;
}

json_t *json_load_file(const char *path, size_t flags, json_error_t *e)
{
	FILE *f = fopen(path, "rb");
	if (!f) {
		if (e) {
			memset(e, 0, sizeof *e);
			e->line = -1;
			snprintf(e->text, sizeof e->text, "unable to open %s: %s", path, strerror(errno));
		}
		return NULL;
	}
	json_t *v = json_loadf(f, flags, e);
	fclose(f);
	return v;
}
