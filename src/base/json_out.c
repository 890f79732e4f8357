#include "base/json_out.h"

#include <string.h>

#include "base/invariant.h"

_Static_assert(JSON_OUT_DEPTH <= 32, "one bit a container");

void json_out_init(struct json_out *j, struct buf *out, bool compact)
{
	*j = (struct json_out){ .out = out, .compact = compact, .line = -1 };
}

void json_out_end(const struct json_out *j)
{
	assert(j->depth == 0 && j->line < 0);
	(void)j;
}

void json_line(struct json_out *j, unsigned indent)
{
	j->line = (int)indent;
}

static void line_break(struct json_out *j)
{
	buf_char(j->out, '\n');
	buf_repeat(j->out, ' ', (size_t)j->line);
	j->line = -1;
}

static bool in_object(const struct json_out *j)
{
	return j->depth && !(j->arrays >> (j->depth - 1) & 1);
}

/* All that stands before a value. */
static void before(struct json_out *j, const char *key)
{
	uint64_t bit = UINT64_C(1) << j->depth;
	assert(in_object(j) == (key != NULL));
	if (j->nonempty & bit)
		buf_char(j->out, ',');
	if (j->line >= 0)
		line_break(j);
	else if (j->nonempty & bit && !j->compact)
		buf_char(j->out, ' ');
	j->nonempty |= bit;
	if (key) {
		buf_json(j->out, key, strlen(key));
		buf_add(j->out, ": ", j->compact ? 1 : 2);
	}
}

static void open(struct json_out *j, const char *key, bool array)
{
	assert(j->depth < JSON_OUT_DEPTH);
	before(j, key);
	buf_char(j->out, array ? '[' : '{');
	j->arrays = (j->arrays & ~(UINT32_C(1) << j->depth)) | (uint32_t)array << j->depth;
	j->depth++;
	j->nonempty &= ~(UINT64_C(1) << j->depth);
}

void json_begin_object(struct json_out *j, const char *key)
{
	open(j, key, false);
}

void json_begin_array(struct json_out *j, const char *key)
{
	open(j, key, true);
}

void json_end(struct json_out *j)
{
	assert(j->depth);
	bool object = in_object(j);
	if (j->line >= 0)
		line_break(j);
	buf_char(j->out, object ? '}' : ']');
	j->depth--;
}

void json_text_n(struct json_out *j, const char *key, const char *s, size_t len)
{
	before(j, key);
	buf_json(j->out, s, len);
}

void json_text(struct json_out *j, const char *key, const char *s)
{
	json_text_n(j, key, s, strlen(s));
}

void json_text_buf(struct json_out *j, const char *key, const struct buf *s)
{
	json_text_n(j, key, buf_cstr(s), s->len);
	j->out->failed |= s->failed;
}

void json_text_or_null(struct json_out *j, const char *key, const char *s)
{
	if (s)
		json_text(j, key, s);
	else
		json_nothing(j, key);
}

/* Documents are mostly numbers: printf would be a third of the time. */
static void digits(struct json_out *j, bool minus, uint64_t n)
{
	char text[24], *p = text + sizeof text;
	do
		*--p = (char)('0' + n % 10);
	while (n /= 10);
	if (minus)
		*--p = '-';
	buf_add(j->out, p, (size_t)(text + sizeof text - p));
}

void json_int(struct json_out *j, const char *key, int64_t n)
{
	before(j, key);
	digits(j, n < 0, n < 0 ? -(uint64_t)n : (uint64_t)n);
}

void json_uint(struct json_out *j, const char *key, uint64_t n)
{
	before(j, key);
	digits(j, false, n < INT64_MAX ? n : INT64_MAX);
}

void json_bool(struct json_out *j, const char *key, bool v)
{
	before(j, key);
	buf_str(j->out, v ? "true" : "false");
}

void json_nothing(struct json_out *j, const char *key)
{
	before(j, key);
	buf_str(j->out, "null");
}

void json_text_if(struct json_out *j, const char *key, const char *s)
{
	if (s)
		json_text(j, key, s);
}

void json_flag(struct json_out *j, const char *key, bool v)
{
	if (v)
		json_bool(j, key, true);
}

struct buf *json_value(struct json_out *j, const char *key)
{
	before(j, key);
	return j->out;
}

void json_items(struct json_out *j, const struct buf *items)
{
	assert(!in_object(j));
	j->out->failed |= items->failed;
	if (!items->len)
		return;
	before(j, NULL);
	buf_add(j->out, buf_cstr(items), items->len);
}
