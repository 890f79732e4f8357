/*
 * json_echo: reads texts that are separated by a byte 30 and prints what the JSON library makes of each: with every combination of flags that
 * Intact uses, written in every layout, or that it is an error. Compiled twice, with jansson and with playground/jansson.c: test_json.py
 * compares the two.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t reading[] = { 0, JSON_REJECT_DUPLICATES, JSON_DECODE_ANY, JSON_DISABLE_EOF_CHECK, JSON_ALLOW_NUL };
static const size_t writing[] = { JSON_COMPACT, 0, JSON_INDENT(1) | JSON_ENSURE_ASCII, JSON_COMPACT | JSON_SORT_KEYS,
	                          JSON_ENCODE_ANY };

static void show(const char *what, const json_t *v, size_t flags)
{
	char *text = json_dumps(v, flags);
	printf("%s %s\n", what, text ? text : "cannot be written");
	free(text);
}

/* Members are asked for, replaced, removed and packed. */
static void change(json_t *v)
{
	const char *key;
	json_t *item, *copy = json_deep_copy(v), *shallow = json_copy(v);
	printf("equal %d %d\n", json_equal(v, copy), json_equal(shallow, copy));
	char *first = NULL;
	size_t members = 0;
	json_object_foreach(v, key, item)
	{
		if (!members++)
			first = strdup(key);
		printf("member %d %lld %g %zu\n", (int)json_typeof(json_object_get(v, key)), (long long)json_integer_value(item),
		       json_number_value(item), json_string_length(item));
	}
	if (first) {
		json_object_set_new(
			copy, first,
			json_pack("{s:i, s:[s,I,b,n], s:o}", "a", 1, "b", "x", (json_int_t)1 << 40, 1, "c", json_integer(7)));
		json_object_set(copy, "the last", json_object_get(v, first));
		show("set", copy, JSON_COMPACT);
		printf("equal %d\n", json_equal(v, copy));
		printf("del %d %d\n", json_object_del(copy, first), json_object_del(copy, first));
		show("deleted", copy, JSON_COMPACT);
	}
	for (size_t i = 0; i < json_array_size(v); i++)
		json_array_append_new(copy, json_copy(json_array_get(v, i)));
	printf("sizes %zu %zu\n", json_array_size(copy), json_object_size(copy));
	show("copy", copy, JSON_COMPACT);
	for (size_t n = json_array_size(copy); n > 1; n = json_array_size(copy)) {
		printf("removed %d %d\n", json_array_remove(copy, n), json_array_remove(copy, n / 2));
		show("left", copy, JSON_COMPACT);
	}
	printf("removed %d\n", json_array_remove(copy, 0));
	free(first);
	json_decref(copy);
	json_decref(shallow);
}

static void echo(const char *text, size_t len)
{
	for (size_t i = 0; i < sizeof reading / sizeof *reading; i++) {
		json_error_t e;
		json_t *v = json_loadb(text, len, reading[i], &e);
		if (!v) { /* which line it is in can be said in two ways when it is the end of one */
			printf("error%s\n", e.line < 1 || e.line > 1 + (int)len ? ", nowhere" : "");
			continue;
		}
		for (size_t k = 0; k < sizeof writing / sizeof *writing; k++)
			show("text", v, writing[k]);
		if (i == 0)
			change(v);
		json_decref(v);
	}
}

int main(void)
{
	size_t n = 0, cap = 1 << 20, got;
	char *s = malloc(cap);
	while (s && (got = fread(s + n, 1, cap - n, stdin))) {
		n += got;
		if (n == cap)
			s = realloc(s, cap *= 2);
	}
	if (!s)
		return 1;
	for (char *at = s, *end = s + n, *stop; at <= end; at = stop + 1) {
		stop = memchr(at, 30, (size_t)(end - at));
		stop = stop ? stop : end;
		printf("---\n");
		echo(at, (size_t)(stop - at));
	}
	free(s);
	return 0;
}
