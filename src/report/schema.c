/*
 * schema: does a value meet a JSON Schema? Only the keywords that our own
 * schema uses (doc.h); an unknown one would be ignored, so a test compares
 * the schema's keywords with the list below.
 *
 * The path to the value is kept as a chain of frames on the stack; it is
 * written out only for the message. Depth follows the schema's own, which
 * does not recurse.
 */
#include <string.h>

#include "base/utf8.h"
#include "report/doc.h"

struct at {
	const struct at *up;
	const char *key; /* NULL: an element */
	size_t index;
};

struct schema_checker {
	const json_t *root;
	struct buf *why; /* NULL: only the answer counts */
};

static bool check(struct schema_checker *c, const json_t *s, const json_t *v, const struct at *at);

static void path(struct buf *out, const struct at *at)
{
	if (!at || !at->up)
		return;
	path(out, at->up);
	if (!at->key) {
		buf_printf(out, "[%zu]", at->index);
	} else {
		if (out->len && out->data[out->len - 1] != ' ')
			buf_char(out, '.');
		size_t n = strlen(at->key);
		buf_safe(out, at->key, n > 60 ? 60 : n);
	}
}

static bool fail(struct schema_checker *c, const struct at *at, const char *what)
{
	if (!c->why)
		return false;
	path(c->why, at);
	buf_printf(c->why, "%s%s", at && at->up ? ": " : "", what);
	return false;
}

static const json_t *resolve(struct schema_checker *c, const json_t *s)
{
	const char *ref;
	for (int i = 0; i < 16 && (ref = json_string_value(json_object_get(s, "$ref"))); i++)
		s = strncmp(ref, "#/$defs/", 8) ? NULL : json_object_get(json_object_get(c->root, "$defs"), ref + 8);
	return s;
}

static bool is_type(const char *t, const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_OBJECT:
		return !strcmp(t, "object");
	case JSON_ARRAY:
		return !strcmp(t, "array");
	case JSON_STRING:
		return !strcmp(t, "string");
	case JSON_INTEGER:
		return !strcmp(t, "integer") || !strcmp(t, "number");
	case JSON_REAL:
		return !strcmp(t, "number");
	case JSON_TRUE:
	case JSON_FALSE:
		return !strcmp(t, "boolean");
	case JSON_NULL:
		return !strcmp(t, "null");
	}
	return false;
}

static bool check_type(struct schema_checker *c, const json_t *type, const json_t *v, const struct at *at)
{
	struct buf text;
	bool ok = json_is_string(type) && is_type(json_string_value(type), v);
	for (size_t i = 0; i < json_array_size(type); i++)
		ok |= is_type(json_string_value(json_array_get(type, i)), v);
	if (ok)
		return true;
	buf_init(&text);
	buf_str(&text, "expected ");
	if (json_is_string(type))
		buf_str(&text, json_string_value(type));
	for (size_t i = 0; i < json_array_size(type); i++)
		buf_printf(&text, "%s%s", i ? " or " : "", json_string_value(json_array_get(type, i)));
	fail(c, at, buf_cstr(&text));
	buf_free(&text);
	return false;
}

static bool check_enum(struct schema_checker *c, const json_t *list, const json_t *v, const struct at *at)
{
	struct buf text;
	for (size_t i = 0; i < json_array_size(list); i++)
		if (json_equal(json_array_get(list, i), v))
			return true;
	buf_init(&text);
	buf_str(&text, "expected one of");
	for (size_t i = 0; i < json_array_size(list); i++)
		if (json_is_string(json_array_get(list, i)))
			buf_printf(&text, "%s \"%s\"", i ? "," : "", json_string_value(json_array_get(list, i)));
	fail(c, at, buf_cstr(&text));
	buf_free(&text);
	return false;
}

static bool check_object(struct schema_checker *c, const json_t *s, const json_t *v, const struct at *at)
{
	const json_t *props = json_object_get(s, "properties"), *more, *p, *r;
	json_t *m;
	const char *key;
	size_t i;
	json_array_foreach(json_object_get(s, "required"), i, r) if (!json_object_get(v, json_string_value(r)))
	{
		struct at missing = { at, json_string_value(r), 0 };
		return fail(c, &missing, "is missing");
	}
	more = json_object_get(s, "additionalProperties");
	if (!props && !more)
		return true;
	json_object_foreach((json_t *)(uintptr_t)v, key, m)
	{
		struct at here = { at, key, 0 };
		p = json_object_get(props, key);
		if (!p)
			p = more;
		if (json_is_false(p))
			return fail(c, &here, "unknown member");
		if (json_is_object(p) && !check(c, p, m, &here))
			return false;
	}
	return true;
}

static bool check_array(struct schema_checker *c, const json_t *s, const json_t *v, const struct at *at)
{
	const json_t *items = json_object_get(s, "items"), *bound;
	size_t n = json_array_size(v);
	if ((bound = json_object_get(s, "minItems")) && (json_int_t)n < json_integer_value(bound))
		return fail(c, at, "the list is too short");
	if ((bound = json_object_get(s, "maxItems")) && (json_int_t)n > json_integer_value(bound))
		return fail(c, at, "the list is too long");
	for (size_t i = 0; items && i < n; i++) {
		struct at here = { at, NULL, i };
		if (!check(c, items, json_array_get(v, i), &here))
			return false;
	}
	return true;
}

static bool check_scalar(struct schema_checker *c, const json_t *s, const json_t *v, const struct at *at)
{
	const json_t *bound;
	if (json_is_integer(v)) {
		if ((bound = json_object_get(s, "minimum")) && json_integer_value(v) < json_integer_value(bound))
			return fail(c, at, "the number is too small");
		if ((bound = json_object_get(s, "maximum")) && json_integer_value(v) > json_integer_value(bound))
			return fail(c, at, "the number is too large");
	}
	if (json_is_string(v) && (bound = json_object_get(s, "maxLength")) &&
	    json_string_length(v) > (size_t)json_integer_value(bound) * 4)
		return fail(c, at, "the text is too long");
	return true;
}

static bool check_conditional(struct schema_checker *c, const json_t *s, const json_t *v, const struct at *at)
{
	const json_t *all = json_object_get(s, "allOf"), *cond = json_object_get(s, "if"), *part;
	size_t i;
	json_array_foreach(all, i, part) if (!check(c, part, v, at)) return false;
	if (!cond)
		return true;
	struct schema_checker quiet = { c->root, NULL };
	const json_t *then = json_object_get(s, "then");
	return !check(&quiet, cond, v, at) || !then || check(c, then, v, at);
}

static bool check(struct schema_checker *c, const json_t *s, const json_t *v, const struct at *at)
{
	const json_t *k;
	s = resolve(c, s);
	if (!json_is_object(s))
		return true;
	if ((k = json_object_get(s, "type")) && !check_type(c, k, v, at))
		return false;
	if ((k = json_object_get(s, "const")) && !json_equal(k, v))
		return fail(c, at, "is not the required value");
	if ((k = json_object_get(s, "enum")) && !check_enum(c, k, v, at))
		return false;
	if (json_is_object(v) && !check_object(c, s, v, at))
		return false;
	if (json_is_array(v) && !check_array(c, s, v, at))
		return false;
	return check_scalar(c, s, v, at) && check_conditional(c, s, v, at);
}

bool schema_check(const json_t *schema, const json_t *value, struct buf *why)
{
	struct schema_checker c = { schema, why };
	struct at top = { NULL, NULL, 0 };
	return check(&c, schema, value, &top);
}
