/*
 * merge_history: shards of `intact history` as one result. A shard has every N-th part of the history (history/judged.h), and the
 * log of the whole. The texts of parts are taken over as they are, so that the bytes are those of the whole check; the columns of
 * orders are taken apart and written again.
 */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "report/doc.h"
#include "report/history_json.h"
#include "report/merge.h"

/* ---- the text of a value ---- */

struct raw {
	const char *p;
	size_t n;
};

static const char *blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r'))
		p++;
	return p;
}

/* Behind the value at p; the text is valid. */
static const char *skip(const char *p, const char *end)
{
	unsigned depth = 0;
	bool text = false;
	assert(p <= end);
	for (; p < end; p++) {
		if (text) {
			if (*p == '\\')
				p++;
			else if (*p == '"')
				text = false;
			if (text || depth)
				continue;
			return p + 1;
		}
		if (*p == '"')
			text = true;
		else if (*p == '{' || *p == '[')
			depth++;
		else if (*p == '}' || *p == ']') {
			if (!depth)
				return p; /* a number, before the end of its container */
			if (!--depth)
				return p + 1;
		} else if (*p == ',' && !depth)
			return p;
	}
	return p;
}

struct raw_walk {
	const char *p, *end;
	struct raw key, value; /* key: with its quotes; of an array none */
	bool object;
};

static struct raw_walk raw_begin(struct raw container)
{
	assert(!container.n || *container.p == '{' || *container.p == '[');
	struct raw_walk w = { .end = container.p + container.n, .object = container.n && *container.p == '{' };
	w.p = container.p + (container.n > 0);
	return w;
}

static bool raw_next(struct raw_walk *w)
{
	w->p = blanks(w->p, w->end);
	if (w->p < w->end && *w->p == ',')
		w->p = blanks(w->p + 1, w->end);
	if (w->p >= w->end || *w->p == '}' || *w->p == ']')
		return false;
	if (w->object) {
		const char *q = skip(w->p, w->end);
		w->key = (struct raw){ w->p, (size_t)(q - w->p) };
		w->p = blanks(q, w->end);
		w->p = blanks(w->p < w->end ? w->p + 1 : w->p, w->end); /* the colon */
	}
	const char *q = skip(w->p, w->end);
	size_t n = (size_t)(q - w->p);
	while (n && strchr(" \n\t\r", w->p[n - 1]))
		n--;
	w->value = (struct raw){ w->p, n };
	w->p = q;
	assert(w->p <= w->end && (!w->object || w->key.n >= 2));
	return true;
}

static bool raw_is(const struct raw *key, const char *name)
{
	size_t n = strlen(name);
	return key->n == n + 2 && !memcmp(key->p + 1, name, n);
}

/* A member; n is 0 when there is none. */
static struct raw raw_member(struct raw object, const char *name)
{
	struct raw_walk w = raw_begin(object);
	while (raw_next(&w))
		if (raw_is(&w.key, name))
			return w.value;
	return (struct raw){ 0 };
}

/* ---- columns (docs/json.md) ---- */

struct column_numbers {
	uint64_t *v;
	size_t n;
};

static int digit(char c)
{
	return c >= 'A' && c <= 'Z'   ? c - 'A'
	       : c >= 'a' && c <= 'z' ? c - 'a' + 26
	       : c >= '0' && c <= '9' ? c - '0' + 52
	       : c == '+'             ? 62
	       : c == '/'             ? 63
	                              : -1;
}

/* The numbers of a column, with its quotes; at most one for each byte of it. */
static bool column(struct arena *a, struct raw text, struct column_numbers *out)
{
	uint64_t value = 0, last = 0;
	unsigned shift = 0, bits = 0, held = 0;
	out->v = arena_array(a, uint64_t, text.n + 1);
	out->n = 0;
	for (size_t i = 1; i + 1 < text.n && text.p[i] != '='; i++) {
		int d = digit(text.p[i]);
		if (d < 0)
			return false;
		held = held << 6 | (unsigned)d;
		bits += 6;
		if (bits < 8)
			continue;
		bits -= 8;
		unsigned byte = held >> bits & 255;
		if (shift > 63)
			return false;
		value |= (uint64_t)(byte & 127) << shift;
		shift += 7;
		if (byte < 128) {
			last += (value >> 1) ^ (0 - (value & 1));
			out->v[out->n++] = last;
			value = shift = 0;
		}
	}
	assert(out->n <= text.n);
	return !shift;
}

/* ---- one file of the shards ---- */

struct shard {
	const struct merge_input *in; /* NULL: missing */
	struct raw text;              /* its result */
	const json_t *result;
	struct raw_walk parts;
	struct column_numbers order;
	size_t at;             /* in order */
	const json_t *lengths; /* of orders, or NULL */
	bool judged;           /* it has parts; else a limit was reached before */
};

struct whole {
	struct merging *m;
	struct shard *s;
	uint32_t shards, parts;
	bool violated, unknown;
	const char *limit;
	uint32_t k;
	json_int_t delta;
};

/* Members that belong to a shard alone, or are made again. */
static bool own(const char *key)
{
	static const char *const names[] = { "file",  "shard", "verdict", "limit", "k",       "delta",
		                             "parts", "log",   "shards",  "hash",  "missing", "all_parts" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(key, names[i]))
			return true;
	return false;
}

static bool same_members(struct merging *m, const struct shard *a, const struct shard *b)
{
	static const char *const log[] = { "operations", "events", "processes", "keys", "functions", "columns", "values" };
	const json_t *x = json_object_get(a->result, "log"), *y = json_object_get(b->result, "log");
	const char *key;
	json_t *v;
	assert(a->judged && b->judged && a->in != b->in);
	if (!merge_same(m, a->in, a->result, b->in, b->result, "hash") ||
	    !merge_same(m, a->in, a->result, b->in, b->result, "all_parts"))
		return false;
	json_object_foreach((json_t *)(uintptr_t)a->result, key, v)
	{
		if (!own(key) && !merge_same(m, a->in, a->result, b->in, b->result, key))
			return false;
	}
	json_object_foreach((json_t *)(uintptr_t)b->result, key, v)
	{
		if (!own(key) && !merge_same(m, a->in, a->result, b->in, b->result, key))
			return false;
	}
	if (!json_is_true(json_object_get(a->result, "least_k")) && !merge_same(m, a->in, a->result, b->in, b->result, "k"))
		return false;
	for (size_t i = 0; i < sizeof log / sizeof *log; i++)
		if (!merge_same(m, a->in, x, b->in, y, log[i]))
			return false;
	return true;
}

/* The parts and orders of a shard, and that they are as many as they must be. */
static bool open_shard(struct whole *w, uint32_t k)
{
	assert(k < w->shards && w->s[k].judged);
	struct shard *s = &w->s[k];
	const json_t *lengths = json_object_get(json_object_get(s->result, "log"), "order_lengths"), *l;
	size_t i, sum = 0, n = json_array_size(json_object_get(s->result, "parts"));
	size_t all = (size_t)doc_number(s->result, "all_parts"), want = k < all ? (all - k - 1) / w->shards + 1 : 0;
	s->parts = raw_begin(raw_member(s->text, "parts"));
	s->lengths = lengths;
	if (n != want || (lengths && json_array_size(lengths) != n))
		return merge_wrong(w->m, s->in, "the result is damaged: it has %zu parts of the %zu of this shard", n, want);
	if (!lengths)
		return true;
	json_array_foreach(lengths, i, l) sum += json_integer_value(l) > 0 ? (size_t)json_integer_value(l) : 0;
	if (!column(w->m->arena, raw_member(raw_member(s->text, "log"), "order"), &s->order) || s->order.n != sum)
		return merge_wrong(w->m, s->in, "the result is damaged: its orders are not as long as it says");
	return true;
}

static void count_verdict(struct whole *w, const struct shard *s)
{
	const json_t *p;
	size_t i;
	assert(s->in && s->result);
	if (!s->judged) {
		w->unknown = true;
		w->limit = w->limit ? w->limit : doc_text(s->result, "limit");
		return;
	}
	/* what a shard calls itself is checked against its parts */
	json_array_foreach(json_object_get(s->result, "parts"), i, p)
	{
		w->violated |= doc_is(p, "verdict", "violated");
		w->unknown |= doc_is(p, "verdict", "unknown");
	}
	w->violated |= doc_is(s->result, "verdict", "violated");
	if (doc_is(s->result, "verdict", "unknown")) {
		w->unknown = true;
		w->limit = w->limit ? w->limit : doc_text(s->result, "limit");
	}
	json_int_t k = doc_number(s->result, "k"), delta = doc_number(s->result, "delta");
	w->k = k > w->k ? (uint32_t)k : w->k;
	w->delta = w->delta < 0 || delta < 0 ? -1 : delta > w->delta ? delta : w->delta;
}

static void put_parts(struct whole *w, struct json_out *j)
{
	json_begin_array(j, "parts");
	for (uint32_t i = 0; i < w->parts; i++) {
		struct shard *s = &w->s[i % w->shards];
		if (!s->judged || !raw_next(&s->parts))
			continue;
		buf_add(json_value(j, NULL), s->parts.value.p, s->parts.value.n);
	}
	json_end(j);
}

/* The orders of all parts, one after the other. */
static void put_orders(struct whole *w, struct json_out *j)
{
	size_t n = 0, all = 0;
	for (uint32_t k = 0; k < w->shards; k++)
		all += w->s[k].judged ? w->s[k].order.n : 0;
	uint64_t *order = arena_array(w->m->arena, uint64_t, all + 1);
	struct buf lengths;
	struct json_out each;
	buf_init(&lengths);
	json_out_init(&each, &lengths, true);
	for (uint32_t i = 0; i < w->parts; i++) {
		struct shard *s = &w->s[i % w->shards];
		if (!s->judged)
			continue;
		size_t len = (size_t)json_integer_value(json_array_get(s->lengths, i / w->shards));
		assert(s->at + len <= s->order.n && n + len <= all);
		memcpy(order + n, s->order.v + s->at, len * sizeof *order);
		s->at += len;
		n += len;
		json_uint(&each, NULL, len);
	}
	assert(n == all); /* open_shard */
	history_column(order, n, json_value(j, "order"));
	json_begin_array(j, "order_lengths");
	json_items(j, &lengths);
	json_end(j);
	buf_free(&lengths);
}

static void put_log(struct whole *w, struct raw log, struct json_out *j)
{
	struct raw_walk each = raw_begin(log);
	json_line(j, 0);
	json_begin_object(j, "log");
	while (raw_next(&each)) {
		if (raw_is(&each.key, "order_lengths"))
			continue;
		if (raw_is(&each.key, "order")) {
			put_orders(w, j);
			continue;
		}
		char *key = arena_strndup(w->m->arena, each.key.p + 1, each.key.n - 2);
		buf_add(json_value(j, key), each.value.p, each.value.n);
	}
	json_end(j);
}

/* The shards that have no parts here. */
static void put_missing(const struct whole *w, struct json_out *j)
{
	bool any = false;
	for (uint32_t k = 0; k < w->shards; k++)
		any |= !w->s[k].judged;
	if (!any)
		return;
	json_uint(j, "shards", w->shards);
	json_begin_array(j, "missing");
	for (uint32_t k = 0; k < w->shards; k++)
		if (!w->s[k].judged)
			json_uint(j, NULL, k + 1);
	json_end(j);
}

static void put_verdict(const struct whole *w, struct json_out *j)
{
	assert(w->shards);
	json_text(j, "verdict", w->violated ? "violated" : w->unknown ? "unknown" : "holds");
	if (!w->violated && w->unknown && w->limit && *w->limit)
		json_text(j, "limit", w->limit);
}

/* The result of a shard that has parts, with those of all. */
static void put_result(struct whole *w, const struct shard *like, struct buf *out)
{
	assert(like->judged && w->parts == (uint32_t)doc_number(like->result, "all_parts"));
	bool least = json_is_true(json_object_get(like->result, "least_k"));
	struct json_out jw, *j = &jw;
	struct raw_walk each = raw_begin(like->text);
	json_out_init(j, out, true);
	json_begin_object(j, NULL);
	while (raw_next(&each)) {
		char *key = arena_strndup(w->m->arena, each.key.p + 1, each.key.n - 2);
		if (!strcmp(key, "shard") || !strcmp(key, "shards") || !strcmp(key, "hash") || !strcmp(key, "all_parts") ||
		    !strcmp(key, "asked") || !strcmp(key, "limit"))
			continue;
		if (!strcmp(key, "object"))
			put_missing(w, j);
		if (!strcmp(key, "verdict"))
			put_verdict(w, j);
		else if (!strcmp(key, "k") && least)
			json_uint(j, "k", w->k);
		else if (!strcmp(key, "delta"))
			json_int(j, "delta", w->delta);
		else if (!strcmp(key, "parts"))
			put_parts(w, j);
		else if (!strcmp(key, "log"))
			put_log(w, each.value, j);
		else
			buf_add(json_value(j, key), each.value.p, each.value.n);
	}
	json_end(j);
	json_out_end(j);
}

/* Result number `index` of all shards. */
static bool one_file(struct merging *m, const struct merge_input **at, uint32_t shards, size_t index, struct buf *out,
                     struct whole *w)
{
	const struct shard *like = NULL;
	*w = (struct whole){ .m = m, .s = arena_array(m->arena, struct shard, shards), .shards = shards };
	for (uint32_t k = 0; k < shards; k++) {
		struct shard *s = &w->s[k];
		if (!(s->in = at[k])) {
			w->unknown = true;
			continue;
		}
		struct raw_walk results = raw_begin(raw_member((struct raw){ s->in->text, s->in->len }, "results"));
		for (size_t i = 0; i <= index && raw_next(&results); i++)
			s->text = results.value;
		s->result = json_array_get(json_object_get(s->in->doc, "results"), index);
		s->judged = json_object_get(s->result, "parts") != NULL;
		if (s->judged && like && !same_members(m, like, s))
			return false;
		if (s->judged && !open_shard(w, k))
			return false;
		like = like ? like : s->judged ? s : NULL;
		count_verdict(w, s);
	}
	if (like) {
		w->parts = (uint32_t)doc_number(like->result, "all_parts");
		put_result(w, like, out);
	} else {
		history_spent_json(
			doc_text(w->s[0].result ? w->s[0].result : json_array_get(json_object_get(m->in[0].doc, "results"), index),
		                 "file"),
			w->limit ? w->limit : "", 0, 0, out);
	}
	return true;
}

/* Which shard each document is: all its results say the same. */
static bool shards_of(struct merging *m, struct merge_shard *of)
{
	const json_t *r;
	size_t i, n = json_array_size(json_object_get(m->in[0].doc, "results"));
	for (uint32_t k = 0; k < m->n; k++) {
		const json_t *results = json_object_get(m->in[k].doc, "results");
		json_array_foreach(results, i, r)
		{
			struct merge_shard s = { (uint32_t)doc_number(r, "shard"), (uint32_t)doc_number(r, "shards") };
			if (i && (s.shard != of[k].shard || s.shards != of[k].shards))
				return merge_wrong(m, &m->in[k], "its results are of different shards");
			of[k] = s;
		}
		if (!json_array_size(results) || json_array_size(results) != n)
			return merge_wrong(m, &m->in[k], "it has %zu results, but %s has %zu", json_array_size(results),
			                   m->in[0].name, n);
	}
	return true;
}

/* A file that could not be read leaves a document undecided, whatever its results are. */
static bool input_error(const json_t *doc)
{
	const json_t *r;
	size_t i;
	bool unknown = false, violated = false;
	json_array_foreach(json_object_get(doc, "results"), i, r)
	{
		unknown |= doc_is(r, "verdict", "unknown");
		violated |= doc_is(r, "verdict", "violated");
	}
	return doc_is(doc, "verdict", "unknown") && (violated || !unknown);
}

bool merge_history(struct merging *m, struct buf *out)
{
	struct merge_shard *of = arena_array(m->arena, struct merge_shard, m->n);
	uint32_t missing = 0;
	if (!shards_of(m, of))
		return false;
	if (of[0].shards > MERGE_MAX)
		return merge_wrong(m, &m->in[0], "too many shards");
	const struct merge_input **at = arena_array(m->arena, const struct merge_input *, of[0].shards + 1);
	if (!merge_order(m, of, at, &missing))
		return false;
	struct buf results;
	bool violated = false, unknown = false, wrong = false, ok = true;
	size_t n = json_array_size(json_object_get(m->in[0].doc, "results"));
	buf_init(&results);
	for (size_t i = 0; i < n && ok; i++) {
		struct whole w;
		if (i)
			buf_str(&results, ",\n");
		ok = one_file(m, at, of[0].shards, i, &results, &w);
		violated |= w.violated;
		unknown |= w.unknown;
	}
	for (uint32_t i = 0; i < m->n; i++)
		wrong |= input_error(m->in[i].doc);
	if (ok) {
		struct json_out j;
		json_out_init(&j, out, false);
		doc_begin(&j, "history", 0);
		json_text(&j, "verdict", wrong ? "unknown" : violated ? "violated" : unknown ? "unknown" : "holds");
		doc_results(&j, &results);
		doc_end(&j);
		out->failed |= results.failed;
	}
	buf_free(&results);
	return ok;
}
