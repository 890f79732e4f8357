/*
 * history_log: the operations of a history as columns, for drawing and
 * re-reading them (docs/json.md has the form).
 *
 * A column is a row of whole numbers, each as the difference to the one
 * before (zigzag), in base 128 (LEB128), then base64: about fifteen bytes
 * per operation, so that a million of them are a file that a browser opens.
 * Small integers represent themselves; other values are numbered in the
 * order of their appearance and listed once, long ones cut.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/seqspec.h"
#include "base/utf8.h"
#include "report/history_json.h"

#define VALUE_MAX  160        /* bytes of one value's text */
#define VALUES_MAX (4u << 20) /* bytes of all of them; the rest is "..." */
#define FACTS_MAX  64

static void fact(const struct history *h, const struct interpretation *in, uint32_t op, struct buf *text, struct json_out *j)
{
	const struct hop *o = &h->ops[op];
	json_begin_object(j, NULL);
	json_uint(j, "operation", op);
	val_json(&h->vals, h->procs.data[o->proc], json_value(j, "process"));
	json_uint(j, "line", o->line);
	json_uint(j, "call", o->call);
	if (o->ret != RANK_INF)
		json_uint(j, "return", o->ret);
	buf_clear(text);
	hop_print_short(h, o, in->object, text);
	json_text_buf(j, "text", text);
	buf_clear(text);
	hop_print(h, o, in->object, text);
	json_text_buf(j, "told", text);
	json_end(j);
}

/* The operations in conflict, each once, and the culprit. */
void history_facts(const struct history *h, const struct interpretation *in, const struct result *r, struct json_out *j)
{
	struct buf text;
	uint32_t n = r->nops < FACTS_MAX ? r->nops : FACTS_MAX;
	buf_init(&text);
	json_begin_array(j, "facts");
	for (uint32_t i = 0; i <= n; i++) {
		uint32_t op = i < n ? r->ops[i] : r->culprit;
		bool told = op == RANK_INF;
		for (uint32_t k = 0; k < i && k < n; k++)
			told |= r->ops[k] == op;
		if (!told)
			fact(h, in, op, &text, j);
	}
	json_end(j);
	buf_free(&text);
}

/* ---- columns --------------------------------------------------------------- */

struct column {
	struct buf *out;
	uint64_t before;
	unsigned char pending[3];
	unsigned n;
};

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void group(struct column *c)
{
	unsigned v = (unsigned)c->pending[0] << 16 | (unsigned)c->pending[1] << 8 | c->pending[2];
	char text[4] = { digits[v >> 18], digits[v >> 12 & 63], digits[v >> 6 & 63], digits[v & 63] };
	if (c->n < 3)
		text[3] = '=';
	if (c->n < 2)
		text[2] = '=';
	buf_add(c->out, text, 4);
	c->n = 0;
	memset(c->pending, 0, sizeof c->pending);
}

static void byte(struct column *c, unsigned char b)
{
	c->pending[c->n++] = b;
	if (c->n == 3)
		group(c);
}

static void put(struct column *c, uint64_t v)
{
	int64_t d = (int64_t)(v - c->before);
	uint64_t z = (uint64_t)d << 1 ^ (uint64_t)(d >> 63);
	c->before = v;
	while (z >= 128) {
		byte(c, (unsigned char)(z | 128));
		z >>= 7;
	}
	byte(c, (unsigned char)z);
}

static void begin(struct column *c, struct json_out *j, const char *name)
{
	*c = (struct column){ .out = json_value(j, name) };
	buf_char(c->out, '"');
}

static void end(struct column *c)
{
	if (c->n)
		group(c);
	buf_char(c->out, '"');
}

void history_column(const uint64_t *v, size_t n, struct buf *out)
{
	struct column c = { .out = out };
	buf_char(out, '"');
	for (size_t i = 0; i < n; i++)
		put(&c, v[i]);
	end(&c);
}

/* ---- values ---------------------------------------------------------------- */

struct listing {
	const struct history *h;
	struct map ids;
	struct buf text;   /* the values as JSON ... */
	struct json_out j; /* ... by this */
	uint32_t n;
};

/* As a person writes it, cut where a character ends. */
static void add_value(struct listing *l, val v)
{
	struct buf b;
	buf_init(&b);
	if (v == VAL_NONE)
		buf_str(&b, "...");
	else
		val_print_whole(&l->h->vals, v, &b);
	size_t n = b.len;
	if (n > VALUE_MAX) {
		n = VALUE_MAX;
		while (n && ((unsigned char)b.data[n] & 0xC0) == 0x80)
			n--;
		b.len = n;
		buf_str(&b, "...");
	}
	json_text_buf(&l->j, NULL, &b);
	buf_free(&b);
}

/* 0: none; odd: a whole number n as 2 * zigzag(n) + 1; even: value k as 2 * k + 2. */
static uint64_t code(struct listing *l, val v)
{
	if (v == VAL_NONE)
		return 0;
	if (val_is_small(v)) {
		int64_t n = val_small(v);
		return ((uint64_t)n << 1 ^ (uint64_t)(n >> 63)) << 1 | 1;
	}
	uint32_t id = map_get(&l->ids, v);
	if (id == MAP_NONE && l->text.len > VALUES_MAX) { /* all the rest is one */
		v = VAL_NONE;
		id = map_get(&l->ids, v);
	}
	if (id == MAP_NONE) {
		id = l->n;
		add_value(l, v);
		if (!map_put(&l->ids, v, id))
			l->text.failed = true;
		l->n++;
	}
	return 2 * (uint64_t)id + 2;
}

/* ---- the log --------------------------------------------------------------- */

static void names(const struct history *h, const char *key, const val *list, uint32_t n, struct json_out *j)
{
	json_begin_array(j, key);
	for (uint32_t i = 0; i < n; i++) {
		struct buf b;
		buf_init(&b);
		val_print_whole(&h->vals, list[i], &b);
		json_text_n(j, NULL, buf_cstr(&b), b.len > 4 * VALUE_MAX ? VALUE_MAX : b.len);
		buf_free(&b);
	}
	json_end(j);
}

enum field { F_PROCESS, F_KEY, F_FUNCTION, F_CALL, F_SPAN, F_A, F_B, F_RESULT, F_LINE, FIELDS };

static uint64_t field(struct listing *l, enum field f, const struct hop *o)
{
	switch (f) {
	case F_PROCESS:
		return o->proc;
	case F_KEY:
		return o->key;
	case F_FUNCTION:
		return o->fn;
	case F_CALL:
		return o->call;
	case F_SPAN:
		return o->ret == RANK_INF ? 0 : o->ret - o->call;
	case F_A:
		return code(l, o->a);
	case F_B:
		return code(l, o->b);
	case F_RESULT:
		return o->res;
	default:
		return o->line;
	}
}

/* The orders found, part after part; of a wrong one, up to where it is wrong. */
static void orders(const struct history *h, const struct interpretation *in, const struct lin_check_options *o,
                   const struct check *c, history_order *before, struct json_out *j)
{
	struct column col;
	struct buf lengths; /* written behind the column, which is made in one pass */
	struct json_out each;
	if ((o->condition != COND_ATOMIC && o->condition != COND_SEQUENTIAL) || o->k > 1 || o->k_min)
		return;
	buf_init(&lengths);
	json_out_init(&each, &lengths, true);
	begin(&col, j, "order");
	for (uint32_t i = 0; i < c->nparts; i++) {
		const struct part *p = &c->parts[i];
		uint32_t n = p->r.verdict == LIN_HOLDS && p->r.order ? p->r.norder : 0;
		uint32_t *made = o->condition == COND_ATOMIC && !n ? before(h, in, c, p, &n) : NULL;
		const uint32_t *order = made ? made : p->r.order;
		for (uint32_t k = 0; k < n; k++)
			put(&col, order[k]);
		free(made);
		json_uint(&each, NULL, n);
	}
	end(&col);
	json_begin_array(j, "order_lengths");
	json_items(j, &lengths);
	json_end(j);
	buf_free(&lengths);
}

static void functions(const struct history *h, const struct interpretation *in, struct json_out *j)
{
	json_begin_array(j, "functions");
	json_text(j, NULL, "");
	for (uint32_t f = 1; f < object_own_end(in->object); f++)
		json_text(j, NULL, fn_name(f, in->object));
	for (uint32_t f = 0; h->user && f < h->user->nmethods; f++)
		json_text(j, NULL, h->user->methods[f].name);
	json_end(j);
}

void history_log(const struct history *h, const struct interpretation *in, const struct lin_check_options *o, const struct check *c,
                 history_order *before, struct json_out *j)
{
	static const char *const names_of[FIELDS] = { "process", "key", "function", "call", "span", "a", "b", "result", "line" };
	struct listing l = { .h = h };
	struct column col;
	map_init(&l.ids);
	buf_init(&l.text);
	json_out_init(&l.j, &l.text, true);
	json_begin_object(j, "log");
	json_uint(j, "operations", h->n);
	json_uint(j, "events", h->nevents);
	names(h, "processes", h->procs.data, h->procs.len, j);
	names(h, "keys", h->keys.data, h->keys.len, j);
	functions(h, in, j);
	json_begin_object(j, "columns");
	for (int f = 0; f < FIELDS; f++) {
		bool zero = true; /* an empty column is one of zeros */
		for (uint32_t i = 0; i < h->n && zero; i++)
			zero = !field(&l, (enum field)f, &h->ops[i]);
		begin(&col, j, names_of[f]);
		for (uint32_t i = 0; i < h->n && !zero; i++)
			put(&col, field(&l, (enum field)f, &h->ops[i]));
		end(&col);
	}
	json_end(j);
	json_begin_array(j, "values");
	json_items(j, &l.text);
	json_end(j);
	orders(h, in, o, c, before, j);
	json_end(j);
	map_free(&l.ids);
	buf_free(&l.text);
}
