/*
 * jansson.h: the part of jansson's interface that Intact uses, for WebAssembly, where there is no package of the library.
 *
 * Names, flags and meaning are jansson's (https://jansson.readthedocs.io), so that the sources are compiled as they are; jansson.c
 * says what is missing. Objects keep the order of their members, as those of jansson 2.8 and later do. A text is at most 2 GB.
 */
#ifndef INTACT_PLAYGROUND_JANSSON_H
#define INTACT_PLAYGROUND_JANSSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef enum { JSON_OBJECT, JSON_ARRAY, JSON_STRING, JSON_INTEGER, JSON_REAL, JSON_TRUE, JSON_FALSE, JSON_NULL } json_type;
typedef struct json_t {
	json_type type;
	size_t refcount;
} json_t;
typedef long long json_int_t;
typedef struct {
	int line, column, position;
	char source[80], text[160];
} json_error_t;
typedef int (*json_dump_callback_t)(const char *text, size_t len, void *arg);

/* reading */
#define JSON_REJECT_DUPLICATES 0x1
#define JSON_DISABLE_EOF_CHECK 0x2
#define JSON_DECODE_ANY        0x4
#define JSON_ALLOW_NUL         0x10
/* writing */
#define JSON_INDENT(n)         ((size_t)(n)&0x1f)
#define JSON_COMPACT           0x20
#define JSON_ENSURE_ASCII      0x40
#define JSON_SORT_KEYS         0x80
#define JSON_ENCODE_ANY        0x200

json_t *json_loadb(const char *text, size_t len, size_t flags, json_error_t *e);
json_t *json_loads(const char *text, size_t flags, json_error_t *e);
json_t *json_loadf(FILE *f, size_t flags, json_error_t *e);
json_t *json_load_file(const char *path, size_t flags, json_error_t *e);
char *json_dumps(const json_t *v, size_t flags);
int json_dump_callback(const json_t *v, json_dump_callback_t put, void *arg, size_t flags);

void json_delete(json_t *v);
static inline json_t *json_incref(json_t *v)
{
	if (v)
		v->refcount++;
	return v;
}
static inline void json_decref(json_t *v)
{
	if (v && --v->refcount == 0)
		json_delete(v);
}

#define json_typeof(v)     ((v)->type)
#define json_is_object(v)  ((v) && json_typeof(v) == JSON_OBJECT)
#define json_is_array(v)   ((v) && json_typeof(v) == JSON_ARRAY)
#define json_is_string(v)  ((v) && json_typeof(v) == JSON_STRING)
#define json_is_integer(v) ((v) && json_typeof(v) == JSON_INTEGER)
#define json_is_real(v)    ((v) && json_typeof(v) == JSON_REAL)
#define json_is_number(v)  (json_is_integer(v) || json_is_real(v))
#define json_is_true(v)    ((v) && json_typeof(v) == JSON_TRUE)
#define json_is_false(v)   ((v) && json_typeof(v) == JSON_FALSE)
#define json_is_boolean(v) (json_is_true(v) || json_is_false(v))
#define json_is_null(v)    ((v) && json_typeof(v) == JSON_NULL)

json_t *json_object(void);
json_t *json_array(void);
json_t *json_string(const char *text);
json_t *json_stringn(const char *text, size_t len);
json_t *json_integer(json_int_t n);
json_t *json_real(double d);
json_t *json_true(void);
json_t *json_false(void);
json_t *json_null(void);
json_t *json_pack(const char *format, ...); /* of the format: s i I o b n [ ] { } : , and blanks */

const char *json_string_value(const json_t *v);
size_t json_string_length(const json_t *v);
json_int_t json_integer_value(const json_t *v);
double json_number_value(const json_t *v);

size_t json_array_size(const json_t *v);
json_t *json_array_get(const json_t *v, size_t i);
int json_array_append_new(json_t *v, json_t *item);
int json_array_remove(json_t *v, size_t i);

size_t json_object_size(const json_t *v);
json_t *json_object_get(const json_t *v, const char *key);
int json_object_set_new(json_t *v, const char *key, json_t *item);
static inline int json_object_set(json_t *v, const char *key, json_t *item)
{
	return json_object_set_new(v, key, json_incref(item));
}
int json_object_del(json_t *v, const char *key);
/* The i-th member from 0; false behind the last. */
bool json_object_at(const json_t *v, size_t i, const char **key, json_t **item);

json_t *json_copy(json_t *v);
json_t *json_deep_copy(const json_t *v);
int json_equal(const json_t *a, const json_t *b);

#define json_array_foreach(v, i, item)    for ((i) = 0; (i) < json_array_size(v) && ((item) = json_array_get(v, i)); (i)++)
#define json_object_foreach(v, key, item) for (size_t json_i_ = 0; json_object_at(v, json_i_, &(key), &(item)); json_i_++)

#endif
